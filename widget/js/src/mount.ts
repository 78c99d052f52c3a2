import { adoptStyles } from "./dom.js";
import type { Panel, PanelHost, PanelModule, WidgetOptions } from "./host.js";
import css from "./loader.css?inline";
import { applyAccent } from "./panel/accent.js";
import { safeStorage } from "./panel/storage.js";

/** A shadow root in the page, and the panel in it once it is wanted. */
export class Mount {
  readonly root: ShadowRoot;
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
    this.root = element.attachShadow({ mode: "open" });
    adoptStyles(this.root, css);
    element.dataset["position"] = options.position;
    element.dataset["theme"] = options.theme;
    // The server's colour is known only once the panel was open; until then the last one.
    const lastAccent = safeStorage("localStorage").get(`lantern:${options.key}:accent`);
    applyAccent(element, options.accent || lastAccent);
    if (options.zIndex) element.style.setProperty("--lantern-z-index", options.zIndex);
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
