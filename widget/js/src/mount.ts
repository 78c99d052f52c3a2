import { adoptStyles } from "./dom.js";
import type { Panel, PanelHost, PanelModule, WidgetOptions } from "./host.js";
import css from "./loader.css?inline";
import { applyAccent } from "./panel/accent.js";

/** A shadow root in the page, and the panel in it once it is wanted. */
export class Mount {
  readonly root: ShadowRoot;
  readonly #element: HTMLElement;
  readonly #options: WidgetOptions;
  readonly #host: Omit<PanelHost, "root" | "options">;
  #panel: Promise<Panel> | null = null;

  constructor(
    element: HTMLElement,
    options: WidgetOptions,
    host: Omit<PanelHost, "root" | "options">,
  ) {
    this.#options = options;
    this.#host = host;
    this.#element = element;
    this.root = element.attachShadow({ mode: "open" });
    adoptStyles(this.root, css);
    this.dress();
  }

  /** Looks as the options say, which may have changed. */
  dress(): void {
    const { position, theme, accent, radius, zIndex } = this.#options;
    const { dataset, style } = this.#element;
    dataset["position"] = position;
    dataset["theme"] = theme;
    applyAccent(style, accent);
    style.setProperty("--lantern-radius", radius && `${radius}px`);
    style.setProperty("--lantern-z-index", zIndex);
  }

  load(): Promise<Panel> {
    if (this.#panel === null) {
      this.#panel = this.#import();
      // The next attempt to open shall try again.
      this.#panel.catch(() => (this.#panel = null));
    }
    return this.#panel;
  }

  /** A panel that is not there, or could not be loaded, has nothing to be told. */
  whenLoaded(act: (panel: Panel) => void): void {
    this.#panel?.then(act, () => undefined);
  }

  async #import(): Promise<Panel> {
    const address = `${this.#options.server}/static/widget/${PANEL_FILE}`;
    const { mountPanel } = (await import(/* @vite-ignore */ address)) as PanelModule;
    const panel = await mountPanel({
      ...this.#host,
      root: this.root,
      options: this.#options,
    });
    this.#host.emit("ready", undefined);
    return panel;
  }
}
