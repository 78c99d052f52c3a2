import { el } from "./dom.js";
import type { LoaderLabels } from "./labels.js";
import { Mount } from "./mount.js";
import type { LoaderOptions } from "./options.js";
import type { PageSide } from "./page.js";
import { safeStorage } from "./panel/storage.js";
import { createLauncher } from "./panel/view/launcher.js";
import { watchTriggers } from "./triggers.js";

export const TAG = "lantern-widget";
const TIP_MS = 6000;

export class WidgetElement extends HTMLElement {
  onDetached: (() => void) | null = null;

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
  readonly #stopTriggers: () => void;
  #isOpen = false;
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
      setUnread: (count, description) => {
        this.#unread = { count, description };
        this.#render();
      },
    });
    this.#launcher = this.#buildLauncher();
    this.mount.root.append(this.#launcher.element, this.#tip);
    this.#element.onDetached = () => this.#stayInPage();
    this.#tip.addEventListener("click", () => this.setOpen(true));
    this.#render();
    this.#stopTriggers = this.#watch();
    this.#whenBody(() => {
      this.#attach();
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
    this.#render();
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
    const launcher = createLauncher({
      openLabel: this.#labels.openChat,
      closeLabel: this.#labels.closeChat,
      onToggle: () => this.toggle(),
      onApproach: () => void this.mount.load().catch(() => undefined),
    });
    launcher.element.hidden = !this.#options.hasLauncher;
    return launcher;
  }

  #watch(): () => void {
    if (this.#memory.get(`${this.#name}:nudged`) === "1") return () => undefined;
    return watchTriggers(this.#options.triggers, () => {
      this.#memory.set(`${this.#name}:nudged`, "1");
      const { nudge } = this.#options.triggers;
      if (nudge === "") this.setOpen(true);
      else this.#tip.textContent = nudge;
    });
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
    this.#render();
    this.#page.emit("error", { code: "load_failed", message });
  }

  #render(): void {
    this.#launcher.update({ isOpen: this.#isOpen, ...this.#unread });
  }
}
