/** What the loader and the panel, which is loaded later, know of each other. */
import type {
  LanternEvents,
  LanternIdentity,
  LanternTool,
} from "../widget.js";

export type { LanternEvents as WidgetEvents, LanternIdentity, LanternTool };

export interface WidgetOptions {
  key: string;
  /** Origin of the Lantern server, from the script's own address. */
  server: string;
  position: "left" | "right";
  theme: "auto" | "light" | "dark";
  locale: string;
  zIndex: string;
  accent: string;
  /** All that stands on the script tag, for what only the panel needs. */
  tag?: Readonly<Record<string, string | undefined>>;
}

/** What the page has told the widget, whenever that was. */
export interface PageFacts {
  identity: LanternIdentity | null;
  context: Readonly<Record<string, unknown>>;
  tools: ReadonlyMap<string, LanternTool>;
}

export interface PanelHost {
  root: ShadowRoot;
  options: WidgetOptions;
  /** Stands in the page's own flow, without a launcher. */
  isInline: boolean;
  facts: PageFacts;
  emit<Name extends keyof LanternEvents>(name: Name, detail: LanternEvents[Name]): void;
  close(): void;
  /** `description` says the count in words. */
  setUnread(count: number, description: string): void;
}

export interface Panel {
  show(): void;
  hide(): void;
  send(text: string): Promise<boolean>;
  newSession(): void;
  /** The page's facts have changed. */
  factsChanged(what: keyof PageFacts): void;
  /** The element stands in the page again after the page's body was replaced. */
  reattached(): void;
  destroy(): void;
}

export interface PanelModule {
  mountPanel(host: PanelHost): Promise<Panel>;
}
