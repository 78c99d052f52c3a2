import { ApiError, EMPTY_CONVERSATION, type LanternClient } from "@lantern/sdk";
import type { Translate } from "../i18n/index.js";
import type { Chat } from "./chat.js";
import { explain } from "./explain.js";
import type { Store } from "./store.js";
import { download, transcriptOf } from "./transcript.js";
import { createHistory, type HistoryView } from "./view/history.js";
import type { Visitor } from "./visitor.js";

export interface PastChatsOptions {
  t: Translate;
  visitor: Visitor;
  chat: Chat;
  store: Store;
  agentName: () => string;
  onClosed: () => void;
  onGone: () => void;
  onError: (error: unknown) => void;
}

const SHOWN = 30;

/** The visitor's list of chats: goes to another, saves or deletes this one. */
export class PastChats {
  readonly view: HistoryView;
  readonly #options: PastChatsOptions;

  constructor(options: PastChatsOptions) {
    this.#options = options;
    this.view = createHistory({
      t: options.t,
      onPick: (sessionId) => void this.#goTo(sessionId),
      onClose: () => this.close(),
      onDownload: () => this.#download(),
      onEmail: (address) => this.#email(address),
      onDelete: () => void this.#delete(() => this.#deleteCurrent()),
      onDeleteAll: () => void this.#delete(() => this.#options.visitor.deleteAll()),
    });
  }

  async toggle(): Promise<void> {
    if (!this.view.element.hidden) return this.close();
    const { visitor, store, onError } = this.#options;
    const { turns } = store.state.conversation;
    try {
      const { data } = await this.#client.sessions.list({ limit: SHOWN });
      const { canEmail } = visitor;
      const currentId = visitor.current();
      this.view.show(data, { currentId, hasTurns: turns.length > 0, canEmail });
    } catch (error) {
      onError(error);
    }
  }

  close(): void {
    if (this.view.element.hidden) return;
    this.view.hide();
    this.#options.onClosed();
  }

  get #client(): LanternClient {
    return this.#options.visitor.client;
  }

  async #goTo(sessionId: string): Promise<void> {
    const { visitor, chat } = this.#options;
    this.close();
    if (visitor.current() === sessionId) return;
    visitor.switchTo(sessionId);
    chat.reset();
    chat.show();
  }

  #download(): void {
    const { store, t, agentName } = this.#options;
    const { conversation } = store.state;
    const names = { user: t("you"), agent: agentName() };
    const text = new Blob([transcriptOf(conversation, names)], { type: "text/plain" });
    const today = new Date().toLocaleDateString("sv"); // as 2026-03-02, everywhere
    download(`chat-${today}.txt`, text);
  }

  async #email(address: string): Promise<string> {
    const { visitor, t } = this.#options;
    try {
      await this.#client.sessions.emailTranscript(visitor.current() ?? "", address);
      return t("emailSent", { address });
    } catch (error) {
      const isWrong = error instanceof ApiError && error.status === 400;
      return isWrong ? t("emailWrong") : explain(error, t);
    }
  }

  async #delete(remove: () => Promise<void>): Promise<void> {
    const { store, onGone, onError } = this.#options;
    try {
      await remove();
      store.set({ conversation: EMPTY_CONVERSATION });
      onGone();
    } catch (error) {
      onError(error);
    }
    this.close();
  }

  async #deleteCurrent(): Promise<void> {
    const sessionId = this.#options.visitor.current();
    if (sessionId !== null) await this.#client.sessions.delete(sessionId);
  }
}
