import { activeTurn, type SessionEvent } from "@lantern/sdk";
import { adoptStyles, el } from "../dom.js";
import type { PageFacts, Panel, PanelHost, WidgetConfig } from "../host.js";
import { loadWords, translator, type Translate } from "../i18n/index.js";
import { createAnnouncer, isFocusTaken } from "./a11y.js";
import { Chat } from "./chat.js";
import { ClientTools } from "./client-tools.js";
import { actionLabel, explain, explainArrival, isRefusal, tellOwner } from "./explain.js";
import { fileLoader, type PickedFile } from "./files.js";
import { narrate } from "./narrate.js";
import { createPageContext } from "./page-context.js";
import { onPageReturn } from "./page-signals.js";
import { PastChats } from "./past-chats.js";
import { keepDraft } from "./storage.js";
import { isBarred, Store, type ChatState, type Notice } from "./store.js";
import { PANEL_CSS } from "./styles.js";
import { createComposer } from "./view/composer.js";
import { createFrame } from "./view/frame.js";
import { createHeader } from "./view/header.js";
import { createNotice } from "./view/notice.js";
import { createThread } from "./view/thread.js";
import { createWelcome } from "./view/welcome.js";
import { followViewport } from "./viewport.js";
import { Visitor } from "./visitor.js";

export async function mountPanel(host: PanelHost): Promise<Panel> {
  const { locale } = host.options;
  return new ChatPanel(host, translator(locale, await loadWords(locale)));
}

class ChatPanel implements Panel {
  readonly #host: PanelHost;
  readonly #t: Translate;
  readonly #store = new Store();
  readonly #context;
  readonly #visitor: Visitor;
  readonly #chat: Chat;
  readonly #tools: ClientTools;
  readonly #pastChats: PastChats;
  readonly #announcer = createAnnouncer();
  readonly #element: HTMLElement;
  readonly #header;
  readonly #welcome;
  readonly #thread;
  readonly #notice;
  readonly #composer;
  readonly #foot: HTMLElement;
  readonly #viewport;
  readonly #endings: (() => void)[] = [];
  #config: WidgetConfig = {};
  #arrival: Promise<void> | null = null;
  #isShown = false;
  #unread = 0;

  constructor(host: PanelHost, t: Translate) {
    this.#host = host;
    this.#t = t;
    this.#context = createPageContext(host.options.key, host.facts, t);
    this.#visitor = new Visitor(host.options, host.facts, this.#context.metadata);
    this.#chat = this.#buildChat();
    this.#tools = new ClientTools({
      tools: host.facts.tools,
      builtIn: this.#context.tools,
      memoryName: `lantern:${host.options.key}`,
      send: (turnId, results) => this.#chat.sendToolResults(turnId, results),
    });
    this.#pastChats = this.#buildPastChats();
    adoptStyles(host.root, PANEL_CSS);
    this.#header = this.#buildHeader();
    this.#welcome = createWelcome(
      { copy: t("copy"), copied: t("copied"), suggestions: t("suggestions") },
      (text) => void this.send(text),
    );
    this.#thread = this.#buildThread();
    this.#notice = createNotice(() => void this.#act());
    this.#composer = this.#buildComposer();
    this.#foot = el("div", { class: "foot" }, this.#context.element, this.#composer.element);
    this.#element = this.#assemble();
    this.#viewport = followViewport(this.#element);
    host.root.append(this.#element, ...this.#announcer.elements);
    host.setCloseLabel(t("closeChat"));
    this.#listen();
    this.#render(this.#store.state);
  }

  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    this.#unread = 0;
    this.#element.hidden = false;
    this.#viewport.fit();
    requestAnimationFrame(() => this.#element.classList.add("open"));
    if (!this.#host.isInline) this.#focus();
    this.#thread.scrollToEnd();
    void this.#resume();
  }

  hide(): void {
    this.#isShown = false;
    this.#element.classList.remove("open");
    this.#element.hidden = true;
    this.#chat.hide();
  }

  async send(text: string, files: readonly PickedFile[] = []): Promise<boolean> {
    this.#thread.scrollToEnd();
    if (!(await this.#arrive())) return false;
    void this.#keepContext();
    const isTaken = await this.#chat.send(text, files);
    if (isTaken) this.#host.emit("sent", { text });
    return isTaken;
  }

  newSession(): void {
    this.#visitor.startFresh();
    this.#clear();
    if (this.#isShown) this.#composer.focus();
  }

  factsChanged(what: keyof PageFacts): void {
    if (what === "context") void this.#keepContext();
    if (what !== "identity") return;
    if (this.#visitor.identityChanged()) this.#clear();
    if (this.#arrival !== null || this.#store.state.link === "refused") void this.#rejoin();
  }

  /** Another name may mean another conversation: what is on screen goes if it is not theirs. */
  async #rejoin(): Promise<void> {
    const before = this.#visitor.current();
    this.#arrival = null;
    if (!(await this.#arrive())) return;
    const isTheirs = await this.#visitor.ownsCurrent().catch(() => true);
    if (!isTheirs && before !== null) this.#visitor.forget(before);
    if (!isTheirs || this.#visitor.current() !== before) this.#chat.reset();
    await this.#resume();
  }

  reattached(): void {
    // Leaving the page took the scroll position along.
    if (this.#isShown) this.#thread.scrollToEnd();
  }

  destroy(): void {
    for (const end of this.#endings) end();
    this.#chat.dispose();
    this.#element.remove();
  }

  #clear(): void {
    this.#pastChats.close();
    this.#chat.reset();
    this.#composer.clear();
  }

  #buildChat(): Chat {
    const access = Object.assign(this.#visitor, { clientTools: () => this.#tools.offered() });
    return new Chat(access, this.#store, this.#t, {
      onEvent: (event) => this.#noticeEvent(event),
      onError: (error) => this.#reportError(error),
      onAccepted: (turnId) => this.#tools.own(turnId),
    });
  }

  #buildPastChats(): PastChats {
    return new PastChats({
      t: this.#t,
      visitor: this.#visitor,
      chat: this.#chat,
      store: this.#store,
      agentName: () => this.#agentName(),
      onClosed: () => this.#focus(),
      onGone: () => this.newSession(),
      onError: (error) => this.#chat.fail(error),
    });
  }

  #buildHeader() {
    return createHeader({
      t: this.#t,
      onHistory: () => void this.#pastChats.toggle(),
      onNewChat: () => this.newSession(),
      onClose: this.#host.isInline ? null : () => this.#host.close(),
    });
  }

  #buildThread() {
    return createThread({
      t: this.#t,
      userName: this.#t("you"),
      agentName: () => this.#agentName(),
      welcome: this.#welcome.element,
      loadFile: fileLoader(this.#visitor),
      onFileLost: (error) => this.#chat.fail(error),
      onRetry: () => void this.#chat.retry(),
      onRate: (turnId, rating, comment) => this.#chat.rate(turnId, rating, comment),
      onApprove: (...answer) => void this.#chat.approve(...answer),
    });
  }

  #buildComposer() {
    return createComposer({
      t: this.#t,
      labels: { field: this.#t("message"), placeholder: this.#t("placeholder") },
      ...keepDraft(this.#host.options.key),
      onSend: (text, files) => this.send(text, files),
      onStop: () => void this.#chat.stop(),
      onRefused: (text) => this.#store.set({ notice: { text, action: null } }),
    });
  }

  #assemble(): HTMLElement {
    return createFrame({
      isInline: this.#host.isInline,
      t: this.#t,
      parts: [
        this.#header.element,
        this.#thread.element,
        this.#pastChats.view.element,
        this.#notice.element,
        this.#foot,
      ],
      onFocusLost: () => this.#focus(),
      onEscape: () => {
        if (this.#pastChats.view.element.hidden) this.#host.close();
        else this.#pastChats.close();
      },
    });
  }

  #listen(): void {
    this.#endings.push(
      this.#store.subscribe((state, before) => {
        this.#render(state);
        narrate(state, before, this.#announcer, this.#t, this.#agentName());
      }),
      onPageReturn(
        (silenceMs) => {
          this.#render(this.#store.state);
          if (this.#arrival !== null) this.#chat.checkLink(silenceMs);
        },
        () => this.#chat.rest(),
      ),
      this.#viewport.end,
      this.#context.end,
    );
  }

  async #resume(): Promise<void> {
    const isFirst = this.#arrival === null;
    if (isFirst) this.#store.set({ isLoading: this.#visitor.current() !== null });
    if (!(await this.#arrive())) return;
    if (this.#isShown) this.#chat.show();
    if (this.#visitor.current() === null) this.#store.set({ isLoading: false });
  }

  /** Whether the server knows this visitor; asked once, and again after a failure. */
  async #arrive(): Promise<boolean> {
    this.#arrival ??= this.#visitor.arrive().then((config) => {
      const { link } = this.#store.state;
      if (/connecting|lost|refused/.test(link)) this.#store.set({ link: "idle", notice: null });
      this.#host.configure(config);
    });
    try {
      await this.#arrival;
      return true;
    } catch (error) {
      this.#arrival = null;
      const isRefused = isRefusal(error);
      const text = explainArrival(error, this.#t);
      const notice: Notice = { text, action: isRefused ? null : "reload" };
      this.#store.set({ isLoading: false, notice, link: isRefused ? "refused" : "lost" });
      if (isRefused) this.#bar(error);
      this.#reportError(error);
      return false;
    }
  }

  /** This site may not use the chat: what cannot be sent shall not be written. */
  #bar(error: unknown): void {
    tellOwner(error, this.#host.options.key);
    const hadFocus = this.#host.root.activeElement !== null;
    this.#foot.hidden = true;
    if (hadFocus && this.#isShown) this.#element.focus({ preventScroll: true });
  }

  configure(config: WidgetConfig): void {
    this.#config = config;
    this.#foot.hidden = false;
    const { suggestions, askContext } = this.#host.options.tag ?? {};
    this.#welcome.setGreeting(config.greeting ?? "");
    this.#welcome.setSuggestions(suggestions?.split("|") ?? config.suggestions ?? []);
    const collectContext = String(askContext ?? config.collectContext ?? false) !== "false";
    this.#context.setWanted({ ...config, collectContext });
    this.#composer.setPlaceholder(config.placeholder || this.#t("placeholder"));
    this.#composer.setFiles(config.attachments === true);
    this.#render(this.#store.state);
  }

  async #keepContext(): Promise<void> {
    const sessionId = this.#visitor.current();
    if (sessionId === null || this.#arrival === null) return;
    const { sessions } = this.#visitor.client;
    await this.#context
      .keep(sessionId, (metadata) => sessions.update(sessionId, { metadata }))
      .catch((error: unknown) => this.#reportError(error));
  }

  async #act(): Promise<void> {
    this.#store.set({ notice: null, link: "connecting" });
    await this.#resume();
  }

  #render(state: ChatState): void {
    const isOffline = !navigator.onLine;
    const title = this.#config.title || this.#t("chat");
    this.#header.update({ title, link: state.link, isOffline });
    this.#welcome.update(state.conversation.turns.length > 0 || state.isLoading);
    this.#thread.update(state);
    this.#composer.update({ isRunning: activeTurn(state.conversation) !== null });
    this.#element.classList.toggle("refused", isBarred(state));
    const notice = isOffline ? { text: this.#t("offlineNotice"), action: null } : state.notice;
    this.#notice.update(notice && { ...notice, actionLabel: actionLabel(notice, this.#t) });
  }

  #noticeEvent(event: SessionEvent): void {
    this.#tools.heed(event);
    if (event.kind !== "message_completed" || event.stopReason === "handed_over") return;
    if (!this.#isShown) {
      this.#unread += 1;
      this.#host.setUnread(this.#unread, this.#t.count("unread", this.#unread));
    }
    this.#host.emit("message", { turnId: event.turnId, text: event.text });
  }

  #reportError(error: unknown): void {
    const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
    this.#host.emit("error", { code, message: explain(error, this.#t) });
  }

  #agentName(): string {
    return this.#config.agentName || this.#t("assistant");
  }

  #focus(): void {
    if (isFocusTaken()) return;
    // On a touch screen the field would open the keyboard over the conversation.
    if (matchMedia("(pointer: coarse)").matches) this.#element.focus({ preventScroll: true });
    else this.#composer.focus();
  }
}
