import { el, icon, type View } from "../../dom.js";
import { CHAT, CHEVRON } from "../../icons.js";

export interface LauncherState {
  isOpen: boolean;
  /** Words beside the icon. */
  label: string;
  closeLabel: string;
  /** Replies that came while the panel was closed. */
  count: number;
  /** The count in words. */
  description: string;
}

export interface LauncherOptions {
  openLabel: string;
  onToggle: () => void;
  /** The visitor is about to open: pointer over the button, or focus on it. */
  onApproach: () => void;
}

export function createLauncher(options: LauncherOptions): View<LauncherState> {
  const badge = el("span", { class: "badge", "aria-hidden": "true" });
  const words = el("span", { class: "label", dir: "auto" });
  const button = el(
    "button",
    { type: "button", class: "launcher", part: "launcher", "aria-haspopup": "dialog" },
    icon(CHAT),
    icon(CHEVRON),
    words,
    badge,
  );
  button.addEventListener("click", options.onToggle);
  button.addEventListener("pointerenter", options.onApproach, { once: true });
  button.addEventListener("focus", options.onApproach, { once: true });
  return {
    element: button,
    update({ isOpen, label, closeLabel, count, description }) {
      const hasUnread = count > 0 && !isOpen;
      words.textContent = isOpen ? "" : label;
      // Who speaks to the computer says what stands there.
      const openLabel = label ? `${label}: ${options.openLabel}` : options.openLabel;
      button.setAttribute("aria-label", (isOpen && closeLabel) || openLabel);
      button.setAttribute("aria-expanded", String(isOpen));
      if (hasUnread) button.setAttribute("aria-description", description);
      else button.removeAttribute("aria-description");
      button.classList.toggle("open", isOpen);
      badge.textContent = hasUnread ? (count > 9 ? "9+" : String(count)) : "";
    },
  };
}
