import { el } from "../dom.js";

/** How long an announcement stays: long enough to be read out, then not found again. */
const ANNOUNCED_MS = 1500;

export interface Announcer {
  elements: HTMLElement[];
  /** Waits for a pause in what is being read out. */
  say(text: string): void;
  /** Interrupts. */
  alert(text: string): void;
}

/**
 * A button that leaves the screen, because it was pressed, takes the focus along: whoever has
 * only a keyboard would begin again at the top of the page.
 */
export function keepFocus(panel: HTMLElement, rescue: () => void): void {
  panel.addEventListener("focusout", ({ target }) => {
    requestAnimationFrame(() => {
      const isGone = (target as Element).getClientRects().length === 0;
      if (isGone && !panel.hidden && document.activeElement === document.body) rescue();
    });
  });
}

const WRITTEN_INTO = "input, textarea, select, [contenteditable], iframe";

/** Somebody writes into the page, or into the one around its frame: the focus is theirs. */
export function isFocusTaken(): boolean {
  return !document.hasFocus() || document.activeElement?.matches(WRITTEN_INTO) === true;
}

export function createAnnouncer(): Announcer {
  const status = el("div", { class: "sr-only", role: "status", "aria-live": "polite" });
  const alert = el("div", { class: "sr-only", role: "alert" });
  const show = (region: HTMLElement, text: string): void => {
    region.textContent = text;
    setTimeout(() => {
      if (region.textContent === text) region.textContent = "";
    }, ANNOUNCED_MS);
  };
  return {
    elements: [status, alert],
    say: (text) => show(status, text),
    alert: (text) => show(alert, text),
  };
}
