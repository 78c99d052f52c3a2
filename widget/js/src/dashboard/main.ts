import { activeTurn, LanternClient } from "@lantern/sdk";
import { el } from "../dom.js";
import { translator, type Translate } from "../i18n/index.js";
import { createAnnouncer } from "../panel/a11y.js";
import type { SessionAccess } from "../panel/access.js";
import { Chat } from "../panel/chat.js";
import { fileLoader } from "../panel/files.js";
import { narrate } from "../panel/narrate.js";
import { onPageReturn } from "../panel/page-signals.js";
import { safeStorage } from "../panel/storage.js";
import { Store, type ChatState } from "../panel/store.js";
import { createComposer, type ComposerView } from "../panel/view/composer.js";
import { createNotice } from "../panel/view/notice.js";
import { createThread } from "../panel/view/thread.js";
import { Desk } from "./desk.js";

/** The operator looks at one given session, with the rights of the admin's cookie. */
function operatorAccess(section: HTMLElement, sessionId: string): SessionAccess {
  const api = new URL(section.dataset["api"] ?? "/v1", location.href);
  const base = api.href.replace(/\/v1\/?$/, "");
  return {
    client: new LanternClient({
      baseUrl: base,
      credentials: "same-origin",
      headers: { "x-csrftoken": section.dataset["csrf"] ?? "" },
      retry: { attempts: 20, capMs: 15_000 },
    }),
    current: () => sessionId,
    ensure: () => Promise.resolve(sessionId),
    forget: () => false,
  };
}

function mountConversation(section: HTMLElement, sessionId: string): void {
  const t = translator(document.documentElement.lang || "en");
  const store = new Store();
  const access = operatorAccess(section, sessionId);
  const chat: Chat = new Chat(access, store, t, {
    onEvent: (event) => desk.heed(event),
    onError: () => undefined,
  });
  const announcer = createAnnouncer();
  const agentName = section.dataset["agent"] || t("assistant");
  const empty = el("p", { class: "empty", hidden: true }, t("emptyConversation"));
  const thread = createThread({
    t,
    userName: t("user"),
    agentName: () => agentName,
    welcome: empty,
    loadFile: fileLoader(access),
    onFileLost: (error) => chat.fail(error),
    onRetry: () => void chat.retry(),
    onRate: null,
    onApprove: (...answer) => void chat.approve(...answer),
  });
  const notice = createNotice(() => chat.show());
  const link = el("p", { class: "link", hidden: true });
  const desk = new Desk(section, access.client.sessions, chat, t);
  const composer = operatorComposer(t, (text) => desk.send(text), chat, sessionId);
  desk.onChange = (placeholder) => composer.setPlaceholder(placeholder);
  desk.onTaken = () => composer.focus();
  desk.bar.hidden = composer.element.hidden = section.dataset["canReply"] === "0";
  section.replaceChildren(thread.element, link, notice.element, desk.bar, composer.element);
  section.append(...announcer.elements);
  store.subscribe((state, before) => {
    thread.update(state);
    composer.update({ isRunning: activeTurn(state.conversation) !== null });
    notice.update(noticeOf(state, t));
    link.hidden = state.link !== "reconnecting";
    link.textContent = t("reconnecting");
    empty.hidden = state.isLoading || state.conversation.turns.length > 0;
    narrate(state, before, announcer, t, agentName);
  });
  onPageReturn((silenceMs) => chat.checkLink(silenceMs), () => chat.rest());
  chat.show();
}

function operatorComposer(
  t: Translate,
  send: (text: string) => Promise<boolean>,
  chat: Chat,
  sessionId: string,
): ComposerView {
  const drafts = safeStorage("sessionStorage");
  const draftName = `lantern:${sessionId}:draft`;
  return createComposer({
    t,
    labels: { field: t("reply"), placeholder: t("replyPlaceholder") },
    draft: drafts.get(draftName) ?? "",
    onDraft: (text) => drafts.set(draftName, text),
    onSend: send,
    onStop: () => void chat.stop(),
    onRefused: () => undefined,
  });
}

function noticeOf({ notice }: ChatState, t: Translate) {
  return notice && { text: notice.text, actionLabel: notice.action && t("reconnect") };
}

const section = document.getElementById("lantern-conversation");
const sessionId = section?.dataset["sessionId"];
if (section && sessionId) mountConversation(section, sessionId);
