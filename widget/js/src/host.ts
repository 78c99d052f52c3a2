/** What the loader and the panel, which is loaded later, know of each other. */
import type {
  LanternEvents,
  LanternIdentity,
  LanternTool,
} from "../widget.js";
import type { PageWishes } from "./panel/page-context.js";

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
  /** Of the panel, in pixels; empty is its own. */
  radius: string;
  /** All that stands on the script tag, for what only the panel needs. */
  tag?: Readonly<Record<string, string | undefined>>;
}

/** What the server says of the embed. */
export interface WidgetConfig extends PageWishes {
  title?: string;
  greeting?: string;
  placeholder?: string;
  agentName?: string;
  suggestions?: string[];
  /** The server can send transcripts by e-mail. */
  emailTranscript?: boolean;
  /** Files may go with messages. */
  attachments?: boolean;
  accent?: string;
  theme?: string;
  position?: string;
  radius?: number | null;
  launcherLabel?: string;
  openAfter?: number | null;
  openOnPath?: string;
  openOnExit?: boolean;
  nudge?: string;
}

/** What the page has told the widget, whenever that was. */
export interface PageFacts {
  /** `null` is nobody; left out, the page has not said. */
  identity?: LanternIdentity | null | undefined;
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
  /** The server has told the panel how the whole widget is to look. */
  configure(config: WidgetConfig): void;
  /** What the launcher is called while the panel is open. */
  setCloseLabel(label: string): void;
  /** `description` says the count in words. */
  setUnread(count: number, description: string): void;
}

export interface Panel {
  show(): void;
  hide(): void;
  send(text: string): Promise<boolean>;
  newSession(): void;
  configure(config: WidgetConfig): void;
  /** The page's facts have changed. */
  factsChanged(what: keyof PageFacts): void;
  /** The element stands in the page again after the page's body was replaced. */
  reattached(): void;
  destroy(): void;
}

export interface PanelModule {
  mountPanel(host: PanelHost): Promise<Panel>;
}
