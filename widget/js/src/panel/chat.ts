import {
  acceptTurn,
  activeTurn,
  ApiError,
  applyEvent,
  ConnectionError,
  EMPTY_CONVERSATION,
  mergeTranscript,
  newIdempotencyKey,
  proposeReply,
  proposeTurn,
  withdrawTurn,
  type AcceptedTurn,
  type ConversationState,
  type FileView,
  type LanternClient,
  type NewMessage,
  type SessionEvent,
  type SessionStream,
  type ToolResult,
} from "@lantern/sdk";
import type { Translate } from "../i18n/index.js";
import type { SessionAccess } from "./access.js";
import { explain, explainSent } from "./explain.js";
import { partsOf, type PickedFile } from "./files.js";
import { isQuiet } from "./quiet.js";
import type { Store } from "./store.js";

type Sessions = LanternClient["sessions"];

export interface ChatEvents {
  onEvent(event: SessionEvent): void;
  onError(error: unknown): void;
  /** The server has taken a message of this tab. */
  onAccepted?(turnId: string): void;
}

const FIRST_CURSOR = "1-0";

/** One conversation: follows its events into the store and carries out what is asked. */
export class Chat {
  readonly #access: SessionAccess;
  readonly #store: Store;
  readonly #t: Translate;
  readonly #events: ChatEvents;
  #stream: SessionStream | null = null;
  #streamedSession: string | null = null;
  #isShown = false;
  /** Turns begun by this tab, or already looked up: their user message is known. */
  readonly #knownTurns = new Set<string>();
  /** A message whose acceptance is unknown keeps its key, should it be sent again. */
  #unconfirmed: { message: string; key: string } | null = null;
  #stopRequested = false;
  /** This page has begun a turn of the conversation. */
  #hasAsked = false;
  #isAway = false;
  #isResting = false;

  constructor(access: SessionAccess, store: Store, t: Translate, events: ChatEvents) {
    this.#access = access;
    this.#store = store;
    this.#t = t;
    this.#events = events;
  }

  /** The conversation is on screen: follow it. */
  show(): void {
    this.#isShown = true;
    const sessionId = this.#access.current();
    if (sessionId !== null && this.#stream === null) this.#resume(sessionId);
  }

  /** The conversation is off screen: followed while there is something to come. */
  hide(): void {
    this.#isShown = false;
    if (isQuiet(this.#store.state.conversation)) this.#closeStream();
  }

  /**
   * The page is out of sight. A browser has six connections to a host, for all its pages:
   * they are left to those in view, unless this page asked and waits for the answer.
   */
  rest(): void {
    this.#isAway = true;
    if (this.#stream === null) return;
    if (this.#hasAsked && !isQuiet(this.#store.state.conversation)) return;
    this.#isResting = true;
    this.#closeStream();
  }

  /** After a sleep, a return to the page or to the network: does the link still live? */
  checkLink(silenceMs: number): void {
    const isWanted = this.#isShown || this.#isResting;
    this.#isAway = this.#isResting = false;
    const sessionId = this.#access.current();
    if (this.#stream !== null) this.#stream.check(silenceMs);
    else if (isWanted && sessionId !== null) this.#resume(sessionId);
  }

  /** Resolves to whether the server took the message. */
  async send(content: string, files: readonly PickedFile[] = []): Promise<boolean> {
    const { sent, shown } = partsOf(files);
    const message = sent.length === 0 ? { content } : { content, attachments: sent };
    const isAgain = this.#unconfirmed?.message === JSON.stringify(message);
    const idempotencyKey = isAgain ? this.#unconfirmed!.key : newIdempotencyKey();
    return this.#begin(
      (state, key) => proposeTurn(state, key, content, shown),
      () => this.#post(message, idempotencyKey),
      shown,
    );
  }

  /** Answers as a person. Resolves to whether the server took it. */
  async reply(content: string, operator: string): Promise<boolean> {
    const post = async (): Promise<AcceptedTurn> => {
      const sessionId = await this.#access.ensure();
      const said = { content, name: operator };
      return this.#access.client.sessions.replyAsOperator(sessionId, said);
    };
    return this.#begin((state, key) => proposeReply(state, key, content, operator), post);
  }

  /** Answers the last user message again. */
  async retry(): Promise<boolean> {
    const sessionId = this.#access.current();
    if (sessionId === null) return false;
    const post = () => this.#access.client.sessions.regenerate(sessionId);
    return this.#begin((state, key) => proposeTurn(state, key, null), post);
  }

  async stop(): Promise<void> {
    const turn = activeTurn(this.#store.state.conversation);
    const sessionId = this.#access.current();
    if (turn === null) return;
    if (turn.turnId === null || sessionId === null) {
      this.#stopRequested = true;
      return;
    }
    const { turnId } = turn;
    await this.#ask((sessions, id) => sessions.cancelTurn(id, turnId));
  }

  /** Resolves to whether the server took it. */
  async rate(turnId: string, rating: "up" | "down", comment: string): Promise<boolean> {
    const feedback = comment === "" ? { rating } : { rating, comment };
    return this.#ask((sessions, id) => sessions.rateTurn(id, turnId, feedback));
  }

  async approve(turnId: string, callId: string, allow: boolean): Promise<void> {
    const approvals = [{ id: callId, allow }];
    await this.#ask((sessions, id) => sessions.approveToolCalls(id, turnId, approvals));
  }

  async sendToolResults(turnId: string, results: ToolResult[]): Promise<void> {
    await this.#ask((sessions, id) => sessions.sendToolResults(id, turnId, results));
  }

  async #ask(act: (sessions: Sessions, sessionId: string) => Promise<void>): Promise<boolean> {
    const sessionId = this.#access.current();
    if (sessionId === null) return false;
    try {
      await act(this.#access.client.sessions, sessionId);
      return true;
    } catch (error) {
      // Another tab, or an operator, was first.
      if (!(error instanceof ApiError && error.status === 409)) this.fail(error);
      return false;
    }
  }

  /** Leaves the conversation for an empty one. */
  reset(): void {
    this.#closeStream();
    this.#knownTurns.clear();
    this.#hasAsked = this.#isResting = false;
    this.#unconfirmed = null;
    this.#store.set({ conversation: EMPTY_CONVERSATION, notice: null, isLoading: false });
  }

  dispose(): void {
    this.#isShown = false;
    this.#closeStream();
  }

  /** Shows a turn at once, and withdraws it if the server does not take it. */
  async #begin(
    propose: (state: ConversationState, key: string) => ConversationState,
    post: () => Promise<AcceptedTurn>,
    files: readonly FileView[] = [],
  ): Promise<boolean> {
    const key = `local-${newIdempotencyKey()}`;
    this.#store.set({ notice: null });
    this.#store.converse((state) => propose(state, key));
    this.#stopRequested = false;
    try {
      const accepted = await post();
      this.#unconfirmed = null;
      this.#knownTurns.add(accepted.turnId);
      this.#hasAsked = true;
      this.#events.onAccepted?.(accepted.turnId);
      this.#store.converse((state) => acceptTurn(state, key, accepted.turnId));
      if (this.#stopRequested) void this.stop();
      const { lastEventId, turns } = this.#store.state.conversation;
      this.#follow(accepted.sessionId, lastEventId || accepted.cursor);
      const isFirstHere = lastEventId === "" && turns.length === 1;
      if (isFirstHere && accepted.cursor !== FIRST_CURSOR) {
        // Another tab began this session; what was said before is not here yet.
        void this.#fetchTranscript(accepted.sessionId);
      }
      return true;
    } catch (error) {
      this.#store.converse((state) => withdrawTurn(state, key));
      this.fail(error, explainSent(error, files, this.#t));
      return false;
    }
  }

  async #post(said: NewMessage, idempotencyKey: string): Promise<AcceptedTurn> {
    const { sessions } = this.#access.client;
    const sessionId = await this.#access.ensure();
    const clientTools = this.#access.clientTools?.() ?? [];
    const message = clientTools.length === 0 ? said : { ...said, clientTools };
    try {
      return await sessions.postMessage(sessionId, message, { idempotencyKey });
    } catch (error) {
      if (error instanceof ConnectionError) {
        this.#unconfirmed = { message: JSON.stringify(said), key: idempotencyKey };
      }
      if (!isGone(error) || !this.#access.forget(sessionId)) throw error;
    }
    this.#closeStream();
    const fresh = await this.#access.ensure();
    return sessions.postMessage(fresh, message, { idempotencyKey });
  }

  #resume(sessionId: string): void {
    this.#isResting = this.#isAway;
    if (this.#isAway) return;
    const { lastEventId, turns } = this.#store.state.conversation;
    this.#store.set({ isLoading: turns.length === 0, notice: null });
    this.#follow(sessionId, lastEventId || undefined);
  }

  #follow(sessionId: string, after: string | undefined): void {
    if (this.#stream !== null && this.#streamedSession === sessionId) return;
    this.#closeStream();
    // Without a cursor the stream starts at the running turn, or now; what lies before
    // is fetched only once the stream stands, so that nothing falls between the two.
    const needsTranscript = after === undefined;
    const stream = this.#access.client.sessions.follow(sessionId, {
      after,
      onLink: (link) => {
        if (this.#stream !== stream) return;
        this.#store.set({ link: link === "closed" ? "idle" : link });
        const { lastEventId } = this.#store.state.conversation;
        if (link === "open" && needsTranscript && lastEventId === "") {
          void this.#fetchTranscript(sessionId);
        }
      },
    });
    this.#stream = stream;
    this.#streamedSession = sessionId;
    void this.#pump(stream, sessionId);
  }

  async #pump(stream: SessionStream, sessionId: string): Promise<void> {
    try {
      for await (const event of stream) {
        if (this.#stream !== stream) return;
        this.#receive(event, sessionId);
      }
    } catch (error) {
      if (this.#stream === stream) this.#streamFailed(error, sessionId);
    }
  }

  #receive(event: SessionEvent, sessionId: string): void {
    this.#store.converse((state) => applyEvent(state, event));
    this.#events.onEvent(event);
    if ("turnId" in event) this.#askForStranger(event.turnId, sessionId);
    const isOver = event.kind === "session.status_idle";
    if (isOver) this.#askForStrangers(sessionId);
    if (isOver && this.#isAway) this.rest();
    else if (isOver && !this.#isShown) this.hide();
  }

  /** Another tab, or an operator, began this turn: its user message is in the transcript. */
  #askForStranger(turnId: string, sessionId: string): void {
    if (this.#knownTurns.has(turnId)) return;
    const { turns } = this.#store.state.conversation;
    // It may be the one this tab is just posting; its answer will tell.
    if (turns.some((turn) => turn.phase === "sending")) return;
    this.#knownTurns.add(turnId);
    void this.#fetchTranscript(sessionId);
  }

  #askForStrangers(sessionId: string): void {
    for (const turn of this.#store.state.conversation.turns) {
      if (turn.turnId !== null && turn.userText === null) {
        this.#askForStranger(turn.turnId, sessionId);
      }
    }
  }

  async #fetchTranscript(sessionId: string): Promise<void> {
    try {
      const messages = await this.#access.client.sessions.transcript(sessionId);
      // Its stream may rest meanwhile, but nobody will ask for these turns again.
      if (this.#access.current() !== sessionId) return;
      for (const { turnId } of messages) if (turnId !== null) this.#knownTurns.add(turnId);
      this.#store.converse((state) => mergeTranscript(state, messages));
    } catch (error) {
      this.fail(error);
    }
    this.#store.set({ isLoading: false });
  }

  #streamFailed(error: unknown, sessionId: string): void {
    this.#stream = null;
    this.#streamedSession = null;
    this.#store.set({ isLoading: false, link: "lost" });
    if (isGone(error) && this.#access.forget(sessionId)) {
      this.reset();
      this.#store.set({ link: "idle" });
      return;
    }
    const text = error instanceof ConnectionError ? this.#t("linkLost") : explain(error, this.#t);
    this.#store.set({ notice: { text, action: "reconnect" } });
    this.#events.onError(error);
  }

  /** Says in a sentence what went wrong. */
  fail(error: unknown, text = explain(error, this.#t)): void {
    this.#store.set({ notice: { text, action: null } });
    this.#events.onError(error);
  }

  #closeStream(): void {
    const stream = this.#stream;
    this.#stream = null;
    this.#streamedSession = null;
    stream?.close();
    this.#store.set({ link: "idle" });
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
