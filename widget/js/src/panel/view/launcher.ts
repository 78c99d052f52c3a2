import { el, icon, type View } from "../../dom.js";
import { CHAT, CHEVRON } from "../../icons.js";

export interface LauncherState {
  isOpen: boolean;
  hasUnread: boolean;
}

export interface LauncherOptions {
  openLabel: string;
  closeLabel: string;
  onToggle: () => void;
  /** The visitor is about to open: pointer over the button, or focus on it. */
  onApproach: () => void;
}

export function createLauncher(options: LauncherOptions): View<LauncherState> {
  const button = el(
    "button",
    { type: "button", class: "launcher", part: "launcher", "aria-haspopup": "dialog" },
    icon(CHAT),
    icon(CHEVRON),
  );
  button.addEventListener("click", options.onToggle);
  button.addEventListener("pointerenter", options.onApproach, { once: true });
  button.addEventListener("focus", options.onApproach, { once: true });
  return {
    element: button,
    update({ isOpen, hasUnread }) {
      button.setAttribute("aria-label", isOpen ? options.closeLabel : options.openLabel);
      button.setAttribute("aria-expanded", String(isOpen));
      button.classList.toggle("open", isOpen);
      button.classList.toggle("unread", hasUnread && !isOpen);
    },
  };
}
