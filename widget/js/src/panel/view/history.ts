import type { Session } from "@lantern/sdk";
import { el } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { BACK, DOWNLOAD, TRASH } from "../../icons.js";
import { iconButton, textButton, withIcon } from "../button.js";
import { ago } from "../times.js";
import { createMailForm } from "./mail-form.js";

export interface HistoryOptions {
  t: Translate;
  onPick: (sessionId: string) => void;
  onClose: () => void;
  onDownload: () => void;
  onDelete: () => void;
  onDeleteAll: () => void;
  /** Resolves to what the visitor is told. */
  onEmail: (address: string) => Promise<string>;
}

interface Shown {
  currentId: string | null;
  hasTurns: boolean;
  canEmail: boolean;
}

export interface HistoryView {
  element: HTMLElement;
  show(sessions: readonly Session[], now: Shown): void;
  hide(): void;
}

/** The visitor's chats, over the conversation. */
export function createHistory(options: HistoryOptions): HistoryView {
  const { t } = options;
  const list = el("ul", { class: "chats" });
  const back = iconButton("plain", t("back"), BACK, options.onClose);
  const save = textButton("row", t("download"), options.onDownload);
  const mail = createMailForm(options);
  const remove = deleteButton(t("deleteChat"), t("deleteForGood"), options.onDelete);
  const removeAll = deleteButton(t("deleteChats"), t("deleteChatsForGood"), options.onDeleteAll);
  const foot = el(
    "div",
    { class: "chat-actions" },
    withIcon(save, DOWNLOAD),
    mail.element,
    remove.element,
    removeAll.element,
  );
  const element = el(
    "section",
    { class: "history", "aria-label": t("history"), hidden: true },
    el("div", { class: "history-head" }, back, el("h3", {}, t("history"))),
    list,
    foot,
  );
  return {
    element,
    show(sessions, { currentId, hasTurns, canEmail }) {
      const items = sessions.map((session) => renderChat(session, currentId, options));
      const nothing = el("li", { class: "none" }, t("noChats"));
      list.replaceChildren(...(items.length === 0 ? [nothing] : items));
      mail.element.hidden = !hasTurns || !canEmail;
      mail.reset();
      save.hidden = remove.element.hidden = !hasTurns;
      foot.hidden = !hasTurns && sessions.length === 0;
      remove.reset();
      removeAll.reset();
      element.hidden = false;
      back.focus();
    },
    hide() {
      element.hidden = true;
    },
  };
}

function renderChat(
  session: Session,
  currentId: string | null,
  { t, onPick }: HistoryOptions,
): HTMLElement {
  const at = session.updatedAt ?? session.createdAt ?? "";
  const button = textButton("row", "", () => onPick(session.id));
  if (session.id === currentId) button.setAttribute("aria-current", "true");
  const title = session.title || session.firstWords || t("chat");
  button.append(
    el("span", { class: "chat-title", dir: "auto" }, title),
    el("time", { datetime: at }, ago(at, t.locale)),
  );
  return el("li", {}, button);
}

/** Deletes when it is pressed again. */
function deleteButton(words: string, sureWords: string, onDelete: () => void) {
  let isSure = false;
  const element = textButton("row danger", "", () => {
    if (isSure) return onDelete();
    isSure = true;
    label.textContent = sureWords;
  });
  const label = el("span", {}, words);
  element.append(label);
  withIcon(element, TRASH);
  return {
    element,
    reset() {
      isSure = false;
      label.textContent = words;
    },
  };
}
