import { el, icon, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { CLOSE, FLAME, HISTORY, NEW_CHAT } from "../../icons.js";
import { iconButton } from "../button.js";
import type { Link } from "../store.js";

export interface HeaderState {
  title: string;
  link: Link;
  isOffline: boolean;
}

export interface HeaderOptions {
  t: Translate;
  onHistory: () => void;
  onNewChat: () => void;
  /** `null` where the panel does not close. */
  onClose: (() => void) | null;
}

export function createHeader(options: HeaderOptions): View<HeaderState> {
  const { t, onClose } = options;
  const name = el("bdi");
  const title = el("h2", { class: "title", id: "lantern-title" }, name);
  const status = el("p", { class: "status" });
  // No <header>: outside the page's own sections that would be a second banner.
  const element = el(
    "div",
    { class: "header", part: "header" },
    el("span", { class: "mark", "aria-hidden": "true" }, icon(FLAME)),
    el("div", { class: "headline" }, title, status),
    iconButton("plain of-chats", t("history"), HISTORY, options.onHistory),
    iconButton("plain of-chats", t("newChat"), NEW_CHAT, options.onNewChat),
    ...(onClose === null ? [] : [iconButton("plain", t("close"), CLOSE, onClose)]),
  );
  return {
    element,
    update(state) {
      const linkName = statusOf(state);
      name.textContent = state.title;
      status.textContent = t(linkName);
      status.dataset["status"] = linkName;
    },
  };
}

function statusOf({ link, isOffline }: HeaderState) {
  if (link === "refused") return "unavailable" as const;
  if (isOffline || link === "lost") return "offline" as const;
  if (link === "reconnecting") return "reconnecting" as const;
  return "online" as const;
}
