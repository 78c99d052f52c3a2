import { el, icon, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { CLOSE, FLAME, NEW_CHAT } from "../../icons.js";
import type { Link } from "../store.js";

export interface HeaderState {
  title: string;
  link: Link;
  isOffline: boolean;
}

export interface HeaderOptions {
  t: Translate;
  onNewChat: () => void;
  onClose: () => void;
}

export function createHeader(options: HeaderOptions): View<HeaderState> {
  const { t } = options;
  const title = el("h2", { class: "title", id: "lantern-title" });
  const status = el("p", { class: "status" });
  const element = el(
    "header",
    { class: "header", part: "header" },
    el("span", { class: "mark", "aria-hidden": "true" }, icon(FLAME)),
    el("div", { class: "headline" }, title, status),
    headerButton(t("newChat"), NEW_CHAT, options.onNewChat),
    headerButton(t("close"), CLOSE, options.onClose),
  );
  return {
    element,
    update(state) {
      const name = statusOf(state);
      title.textContent = state.title;
      status.textContent = t(name);
      status.dataset["status"] = name;
    },
  };
}

function statusOf({ link, isOffline }: HeaderState) {
  if (link === "refused") return "unavailable" as const;
  if (isOffline || link === "lost") return "offline" as const;
  if (link === "reconnecting") return "reconnecting" as const;
  return "online" as const;
}

function headerButton(label: string, path: string, onClick: () => void): HTMLButtonElement {
  const button = el("button", { type: "button", class: "plain", "aria-label": label });
  button.append(icon(path));
  button.addEventListener("click", onClick);
  return button;
}
