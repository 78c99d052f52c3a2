import { el } from "./dom.js";
import type { LoaderLabels } from "./labels.js";
import { Mount } from "./mount.js";
import type { LoaderOptions } from "./options.js";
import type { PageSide } from "./page.js";
import { safeStorage } from "./panel/storage.js";
import { createLauncher } from "./panel/view/launcher.js";
import type { watchTriggers } from "./triggers.js";

export const TAG = "lantern-widget";
const TIP_MS = 6000;

export class WidgetElement extends HTMLElement {
  onDetached: (() => void) | null = null;

  /** Sites that keep copies of their bodies bring back one of this, too: an empty one. */
  connectedCallback(): void {
    if (this.onDetached === null) this.remove();
  }

  disconnectedCallback(): void {
    this.onDetached?.();
  }
}

/** The launcher in the page's corner, and the panel that it opens. */
export class Floating {
  readonly mount: Mount;
  readonly #options: LoaderOptions;
  readonly #labels: LoaderLabels;
  readonly #page: PageSide;
  readonly #element = document.createElement(TAG) as WidgetElement;
  readonly #memory = safeStorage("sessionStorage");
  readonly #name: string;
  readonly #launcher;
  readonly #tip = el("p", { class: "tip", role: "alert", dir: "auto" });
  #stopTriggers: () => void = () => undefined;
  #isOpen = false;
  #closeLabel = "";
  #unread = { count: 0, description: "" };
  #isDestroyed = false;

  constructor(options: LoaderOptions, labels: LoaderLabels, page: PageSide) {
    this.#options = options;
    this.#labels = labels;
    this.#page = page;
    this.#name = `lantern:${options.key}`;
    this.mount = new Mount(this.#element, options, {
      isInline: false,
      facts: page,
      emit: (name, detail) => page.emit(name, detail),
      close: () => this.setOpen(false),
      configure: (config) => page.configure(config),
      setCloseLabel: (label) => {
        this.#closeLabel = label;
        this.render();
      },
      setUnread: (count, description) => {
        this.#unread = { count, description };
        this.render();
      },
    });
    this.#launcher = this.#buildLauncher();
    this.mount.root.append(this.#launcher.element, this.#tip);
    this.#element.onDetached = () => this.#stayInPage();
    this.#tip.addEventListener("click", () => this.setOpen(true));
    this.#launcher.element.hidden = true;
    this.render();
    this.#whenBody(() => this.#attach());
  }

  /** Nothing is seen before it is known what it is to look like. */
  show(): void {
    this.#launcher.element.hidden = !this.#options.hasLauncher;
  }

  /** Goes on where the visitor was, and waits for the moment to come forward. */
  begin(): void {
    this.show();
    // What cannot be loaded does not come forward.
    this.#watch().catch(() => undefined);
    this.#whenBody(() => {
      if (this.#memory.get(`${this.#name}:open`) === "1") this.setOpen(true);
    });
  }

  toggle(): void {
    this.setOpen(!this.#isOpen);
  }

  setOpen(isOpen: boolean): void {
    if (this.#isDestroyed || isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    // Who has opened or closed the chat by hand is not asked again.
    this.#stopTriggers();
    this.#memory.set(`${this.#name}:nudged`, "1");
    this.#tip.replaceChildren();
    if (isOpen) {
      this.#unread = { count: 0, description: "" };
      this.#memory.set(`${this.#name}:open`, "1");
    } else {
      this.#memory.remove(`${this.#name}:open`);
    }
    this.render();
    this.#page.emit(isOpen ? "open" : "close", undefined);
    void this.mount.load().then(
      (panel) => (this.#isOpen ? panel.show() : panel.hide()),
      () => this.#loadFailed(),
    );
    if (!isOpen && this.mount.root.activeElement) this.#launcher.element.focus();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#stopTriggers();
    this.#element.remove();
    this.mount.whenLoaded((panel) => panel.destroy());
  }

  #buildLauncher() {
    return createLauncher({
      openLabel: this.#labels.openChat,
      onToggle: () => this.toggle(),
      onApproach: () => void this.mount.load().catch(() => undefined),
    });
  }

  /** Few sites have the chat come forward: the others do not load what does it. */
  async #watch(): Promise<void> {
    const { triggers, server } = this.#options;
    const isWanted = triggers.afterS >= 0 || triggers.onPath || triggers.onExit;
    if (!isWanted || this.#isNudged()) return;
    const address = `${server}/static/widget/${TRIGGERS_FILE}`;
    const module = (await import(/* @vite-ignore */ address)) as { watchTriggers: typeof watchTriggers };
    if (this.#isNudged() || this.#isDestroyed) return;
    this.#stopTriggers = module.watchTriggers(triggers, () => {
      this.#memory.set(`${this.#name}:nudged`, "1");
      if (triggers.nudge === "") this.setOpen(true);
      else this.#tip.textContent = triggers.nudge;
    });
  }

  #isNudged(): boolean {
    return this.#memory.get(`${this.#name}:nudged`) === "1";
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
      this.mount.whenLoaded((panel) => panel.reattached());
    });
  }

  #loadFailed(): void {
    const message = this.#labels.loadFailed;
    this.#isOpen = false;
    this.#tip.textContent = message;
    setTimeout(() => this.#tip.replaceChildren(), TIP_MS);
    this.render();
    this.#page.emit("error", { code: "load_failed", message });
  }

  render(): void {
    this.#launcher.update({
      isOpen: this.#isOpen,
      label: this.#options.launcherLabel,
      closeLabel: this.#closeLabel,
      ...this.#unread,
    });
  }
}
