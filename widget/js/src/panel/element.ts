import { activeTurn, type SessionEvent } from "@lantern/sdk";
import { adoptStyles, el } from "../dom.js";
import type { Panel, PanelHost } from "../host.js";
import { translator } from "../i18n/index.js";
import { applyAccent } from "./accent.js";
import { createAnnouncer } from "./a11y.js";
import { Chat } from "./chat.js";
import { explain, isRefusal } from "./explain.js";
import { narrate } from "./narrate.js";
import { onPageReturn } from "./page-signals.js";
import { safeStorage } from "./storage.js";
import { Store, type ChatState, type Notice } from "./store.js";
import { PANEL_CSS } from "./styles.js";
import { createComposer } from "./view/composer.js";
import { createHeader } from "./view/header.js";
import { createNotice } from "./view/notice.js";
import { createThread } from "./view/thread.js";
import { createWelcome } from "./view/welcome.js";
import { Visitor, type WidgetConfig } from "./visitor.js";

export function mountPanel(host: PanelHost): Panel {
  return new ChatPanel(host);
}

class ChatPanel implements Panel {
  readonly #host: PanelHost;
  readonly #t;
  readonly #store = new Store();
  readonly #visitor: Visitor;
  readonly #chat: Chat;
  readonly #drafts = safeStorage("sessionStorage");
  readonly #announcer = createAnnouncer();
  readonly #element: HTMLElement;
  readonly #header;
  readonly #welcome;
  readonly #thread;
  readonly #notice;
  readonly #composer;
  readonly #foot: HTMLElement;
  readonly #endings: (() => void)[] = [];
  #config: WidgetConfig = {};
  #arrival: Promise<void> | null = null;
  #isShown = false;

  constructor(host: PanelHost) {
    this.#host = host;
    this.#t = translator(host.options.locale);
    this.#visitor = new Visitor(host.options);
    this.#chat = new Chat(this.#visitor, this.#store, this.#t, {
      onEvent: (event) => this.#noticeEvent(event),
      onError: (error) => this.#reportError(error),
    });
    adoptStyles(host.root, PANEL_CSS);
    this.#header = this.#buildHeader();
    this.#welcome = createWelcome({ copy: this.#t("copy"), copied: this.#t("copied") });
    this.#thread = this.#buildThread();
    this.#notice = createNotice(() => void this.#act());
    this.#composer = this.#buildComposer();
    this.#foot = el("footer", { class: "foot" }, this.#composer.element);
    this.#element = this.#assemble();
    host.root.append(this.#element, ...this.#announcer.elements);
    this.#listen();
    this.#render(this.#store.state);
  }

  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    this.#element.hidden = false;
    this.#fitViewport();
    requestAnimationFrame(() => this.#element.classList.add("open"));
    this.#focus();
    this.#thread.scrollToEnd();
    void this.#resume();
  }

  hide(): void {
    this.#isShown = false;
    this.#element.classList.remove("open");
    this.#element.hidden = true;
    this.#chat.hide();
  }

  async send(text: string): Promise<boolean> {
    this.#thread.scrollToEnd();
    if (!(await this.#arrive())) return false;
    return this.#chat.send(text);
  }

  newSession(): void {
    this.#visitor.startFresh();
    this.#chat.reset();
    this.#composer.clear();
    if (this.#isShown) this.#composer.focus();
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

  #buildHeader() {
    return createHeader({
      t: this.#t,
      onNewChat: () => this.newSession(),
      onClose: () => this.#host.close(),
    });
  }

  #buildThread() {
    return createThread({
      t: this.#t,
      userName: this.#t("you"),
      agentName: () => this.#agentName(),
      welcome: this.#welcome.element,
      onRetry: () => void this.#chat.retry(),
    });
  }

  #buildComposer() {
    const draftName = `lantern:${this.#host.options.key}:draft`;
    return createComposer({
      labels: {
        field: this.#t("message"),
        placeholder: this.#t("placeholder"),
        send: this.#t("send"),
        stop: this.#t("stop"),
      },
      draft: this.#drafts.get(draftName) ?? "",
      onDraft: (text) => this.#drafts.set(draftName, text),
      onSend: (text) => this.send(text),
      onStop: () => void this.#chat.stop(),
    });
  }

  #assemble(): HTMLElement {
    const element = el(
      "section",
      {
        class: "panel",
        part: "panel",
        role: "dialog",
        "aria-labelledby": "lantern-title",
        tabindex: "-1",
        hidden: true,
      },
      this.#header.element,
      this.#thread.element,
      this.#notice.element,
      this.#foot,
    );
    element.addEventListener("keydown", (event) => {
      // Keys typed into the chat are not shortcuts of the page around it.
      event.stopPropagation();
      if (event.key === "Escape" && !event.isComposing) this.#host.close();
    });
    return element;
  }

  #listen(): void {
    const render = (): void => this.#render(this.#store.state);
    const viewport = window.visualViewport;
    const fit = (): void => this.#fitViewport();
    viewport?.addEventListener("resize", fit);
    viewport?.addEventListener("scroll", fit);
    window.addEventListener("offline", render);
    this.#endings.push(
      this.#store.subscribe((state, before) => {
        this.#render(state);
        narrate(state, before, this.#announcer, this.#t, this.#agentName());
      }),
      onPageReturn((silenceMs) => {
        render();
        if (this.#arrival !== null) this.#chat.checkLink(silenceMs);
      }),
      () => {
        viewport?.removeEventListener("resize", fit);
        viewport?.removeEventListener("scroll", fit);
        window.removeEventListener("offline", render);
      },
    );
  }

  async #resume(): Promise<void> {
    const isFirst = this.#arrival === null;
    if (isFirst) this.#store.set({ isLoading: this.#visitor.current() !== null });
    if (!(await this.#arrive())) return;
    if (this.#isShown) await this.#chat.show();
    if (this.#visitor.current() === null) this.#store.set({ isLoading: false });
  }

  /** Whether the server knows this visitor; asked once, and again after a failure. */
  async #arrive(): Promise<boolean> {
    this.#arrival ??= this.#visitor.arrive().then((config) => {
      if (this.#store.state.link === "connecting") this.#store.set({ link: "idle" });
      this.#configure(config);
    });
    try {
      await this.#arrival;
      return true;
    } catch (error) {
      this.#arrival = null;
      const isRefused = isRefusal(error);
      const text = isRefused ? this.#t("forbiddenOrigin") : explain(error, this.#t);
      const notice: Notice = { text, action: isRefused ? null : "reload" };
      this.#store.set({ isLoading: false, notice, link: isRefused ? "refused" : "lost" });
      if (isRefused) this.#bar();
      this.#reportError(error);
      return false;
    }
  }

  /** This site may not use the chat: what cannot be sent shall not be written. */
  #bar(): void {
    const hadFocus = this.#host.root.activeElement !== null;
    this.#foot.hidden = true;
    if (hadFocus && this.#isShown) this.#element.focus({ preventScroll: true });
  }

  #configure(config: WidgetConfig): void {
    this.#config = config;
    const { key } = this.#host.options;
    if (config.accent) safeStorage("localStorage").set(`lantern:${key}:accent`, config.accent);
    applyAccent(this.#host.root.host as HTMLElement, config.accent);
    this.#welcome.setGreeting(config.greeting ?? "");
    if (config.placeholder) this.#composer.setPlaceholder(config.placeholder);
    this.#render(this.#store.state);
  }

  async #act(): Promise<void> {
    this.#store.set({ notice: null, link: "connecting" });
    await this.#resume();
  }

  #render(state: ChatState): void {
    this.#header.update({
      title: this.#config.title || this.#t("chat"),
      link: state.link,
      isOffline: !navigator.onLine,
    });
    this.#thread.update(state);
    this.#composer.update({ isRunning: activeTurn(state.conversation) !== null });
    this.#notice.update(
      state.notice && {
        text: state.notice.text,
        actionLabel: this.#actionLabel(state.notice),
      },
    );
  }

  #actionLabel({ action }: Notice): string | null {
    if (action === null) return null;
    return this.#t(action === "reconnect" ? "reconnect" : "tryAgain");
  }

  #noticeEvent(event: SessionEvent): void {
    if (event.kind !== "message_completed") return;
    if (!this.#isShown) this.#host.setUnread(true);
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
    // On a touch screen the field would open the keyboard over the conversation.
    if (window.matchMedia("(pointer: coarse)").matches) {
      this.#element.focus({ preventScroll: true });
    } else {
      this.#composer.focus();
    }
  }

  /** A phone's keyboard shrinks the visual viewport only; the panel follows it. */
  #fitViewport(): void {
    const viewport = window.visualViewport;
    if (!viewport || !this.#isShown) return;
    this.#element.style.setProperty("--view-height", `${viewport.height}px`);
    this.#element.style.setProperty("--view-top", `${viewport.offsetTop}px`);
  }
}
