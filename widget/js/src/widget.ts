import { adoptStyles, el } from "./dom.js";
import type { Panel, PanelModule, WidgetEvents, WidgetOptions } from "./host.js";
import { closeChat, loadFailed, openChat } from "./i18n/en.json";
import css from "./loader.css?inline";
import { applyAccent } from "./panel/accent.js";
import { safeStorage } from "./panel/storage.js";
import { createLauncher } from "./panel/view/launcher.js";

type Listener<Name extends keyof WidgetEvents> = (detail: WidgetEvents[Name]) => void;

export interface LanternApi {
  readonly key: string;
  open(): void;
  close(): void;
  toggle(): void;
  /** Opens the panel and sends a message; resolves to whether the server took it. */
  send(text: string): Promise<boolean>;
  newSession(): Promise<void>;
  /** Returns the function that ends the subscription. */
  on<Name extends keyof WidgetEvents>(name: Name, listener: Listener<Name>): () => void;
  destroy(): void;
}

declare global {
  interface Window {
    Lantern?: LanternApi;
  }
}

const TAG = "lantern-widget";
const TIP_MS = 6000;

class WidgetElement extends HTMLElement {
  onDetached: (() => void) | null = null;

  disconnectedCallback(): void {
    this.onDetached?.();
  }
}

export function mountWidget(options: WidgetOptions): LanternApi {
  if (!customElements.get(TAG)) customElements.define(TAG, WidgetElement);
  const widget = new Widget(options);
  window.Lantern = widget.api;
  return widget.api;
}

class Widget {
  readonly api: LanternApi;
  readonly #options: WidgetOptions;
  readonly #element = document.createElement(TAG) as WidgetElement;
  readonly #root = this.#element.attachShadow({ mode: "open" });
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  readonly #memory = safeStorage("sessionStorage");
  readonly #openName: string;
  readonly #launcher = createLauncher({
    openLabel: openChat,
    closeLabel: closeChat,
    onToggle: () => this.#setOpen(!this.#isOpen),
    onApproach: () => void this.#loadPanel().catch(() => undefined),
  });
  readonly #tip = el("p", { class: "tip", role: "alert" });
  #panel: Promise<Panel> | null = null;
  #isOpen = false;
  #hasUnread = false;
  #isDestroyed = false;

  constructor(options: WidgetOptions) {
    this.#options = options;
    this.#openName = `lantern:${options.key}:open`;
    this.api = this.#buildApi();
    adoptStyles(this.#root, css);
    this.#element.dataset["position"] = options.position;
    this.#element.dataset["theme"] = options.theme;
    // The server's colour is known only once the panel was open; until then the last one.
    const lastAccent = safeStorage("localStorage").get(`lantern:${options.key}:accent`);
    applyAccent(this.#element, options.accent || lastAccent);
    if (options.zIndex) {
      this.#element.style.setProperty("--lantern-z-index", options.zIndex);
    }
    this.#root.append(this.#launcher.element, this.#tip);
    this.#element.onDetached = () => this.#stayInPage();
    this.#render();
    this.#whenBody(() => {
      this.#attach();
      if (this.#memory.get(this.#openName) === "1") this.#setOpen(true);
    });
  }

  #buildApi(): LanternApi {
    return {
      key: this.#options.key,
      open: () => this.#setOpen(true),
      close: () => this.#setOpen(false),
      toggle: () => this.#setOpen(!this.#isOpen),
      send: async (text) => {
        this.#setOpen(true);
        return (await this.#loadPanel()).send(text);
      },
      newSession: async () => (await this.#loadPanel()).newSession(),
      on: (name, listener) => {
        const listeners = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, listeners.add(listener));
        return () => void listeners.delete(listener);
      },
      destroy: () => this.#destroy(),
    };
  }

  #whenBody(act: () => void): void {
    if (document.body) act();
    else document.addEventListener("DOMContentLoaded", act, { once: true });
  }

  #attach(): void {
    if (!this.#isDestroyed) document.body.append(this.#element);
  }

  /** Sites that swap the body on navigation take the widget out with it. */
  #stayInPage(): void {
    setTimeout(() => {
      if (this.#isDestroyed || this.#element.isConnected) return;
      this.#whenBody(() => this.#attach());
      this.#whenLoaded((panel) => panel.reattached());
    });
  }

  #setOpen(isOpen: boolean): void {
    if (this.#isDestroyed || isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    if (isOpen) {
      this.#hasUnread = false;
      this.#memory.set(this.#openName, "1");
    } else {
      this.#memory.remove(this.#openName);
    }
    this.#render();
    this.#emit(isOpen ? "open" : "close", undefined);
    void this.#loadPanel().then(
      (panel) => (this.#isOpen ? panel.show() : panel.hide()),
      () => this.#loadFailed(),
    );
    if (!isOpen && this.#root.activeElement) this.#launcher.element.focus();
  }

  #loadFailed(): void {
    this.#isOpen = false;
    this.#tip.textContent = loadFailed;
    setTimeout(() => this.#tip.replaceChildren(), TIP_MS);
    this.#render();
    this.#emit("error", { code: "load_failed", message: loadFailed });
  }

  #loadPanel(): Promise<Panel> {
    if (this.#panel === null) {
      this.#panel = this.#importPanel();
      // The next attempt to open shall try again.
      this.#panel.catch(() => (this.#panel = null));
    }
    return this.#panel;
  }

  /** A panel that is not there, or could not be loaded, has nothing to be told. */
  #whenLoaded(act: (panel: Panel) => void): void {
    this.#panel?.then(act, () => undefined);
  }

  async #importPanel(): Promise<Panel> {
    const address = `${this.#options.server}/static/widget/${PANEL_FILE}`;
    const { mountPanel } = (await import(/* @vite-ignore */ address)) as PanelModule;
    const panel = mountPanel({
      root: this.#root,
      options: this.#options,
      emit: (name, detail) => this.#emit(name, detail),
      close: () => this.#setOpen(false),
      setUnread: (hasUnread) => {
        this.#hasUnread = hasUnread;
        this.#render();
      },
    });
    this.#emit("ready", undefined);
    return panel;
  }

  #render(): void {
    this.#launcher.update({ isOpen: this.#isOpen, hasUnread: this.#hasUnread });
  }

  #emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as Listener<Name>)(detail);
      } catch (error) {
        // A fault of the page's own code is the page's to see, not the chat's to die of.
        reportError(error);
      }
    }
  }

  #destroy(): void {
    this.#isDestroyed = true;
    this.#element.remove();
    this.#whenLoaded((panel) => panel.destroy());
    if (window.Lantern === this.api) delete window.Lantern;
  }
}
