/** What the loader and the panel, which is loaded later, know of each other. */

export interface WidgetOptions {
  key: string;
  /** Origin of the Lantern server, from the script's own address. */
  server: string;
  position: "left" | "right";
  theme: "auto" | "light" | "dark";
  locale: string;
  zIndex: string;
  accent: string;
}

export interface WidgetEvents {
  ready: undefined;
  open: undefined;
  close: undefined;
  message: { turnId: string; text: string };
  error: { code: string; message: string };
}

export interface PanelHost {
  root: ShadowRoot;
  options: WidgetOptions;
  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void;
  close(): void;
  setUnread(hasUnread: boolean): void;
}

export interface Panel {
  show(): void;
  hide(): void;
  send(text: string): Promise<boolean>;
  newSession(): void;
  /** The element stands in the page again after the page's body was replaced. */
  reattached(): void;
  destroy(): void;
}

export interface PanelModule {
  mountPanel(host: PanelHost): Panel;
}
