import { EMPTY_CONVERSATION, type ConversationState } from "@lantern/sdk";

export type Link = "idle" | "connecting" | "open" | "reconnecting" | "lost" | "refused";

export interface ChatState {
  /** The conversation is being fetched; nothing is known of it yet. */
  isLoading: boolean;
  conversation: ConversationState;
  link: Link;
  notice: Notice | null;
}

export interface Notice {
  text: string;
  action: "reconnect" | "reload" | null;
}

export const INITIAL_CHAT: ChatState = {
  isLoading: false,
  conversation: EMPTY_CONVERSATION,
  link: "idle",
  notice: null,
};

/** The server will not have this page, and there is nothing else to show. */
export function isBarred({ link, conversation }: ChatState): boolean {
  return link === "refused" && conversation.turns.length === 0;
}

type Listener = (state: ChatState, before: ChatState) => void;

/** Holds the state and tells its listeners at most once per frame. */
export class Store {
  readonly #listeners = new Set<Listener>();
  readonly #schedule: (act: () => void) => void;
  #state: ChatState = INITIAL_CHAT;
  #told: ChatState = INITIAL_CHAT;
  #isScheduled = false;

  constructor(schedule: (act: () => void) => void = (act) => requestAnimationFrame(act)) {
    this.#schedule = schedule;
  }

  get state(): ChatState {
    return this.#state;
  }

  set(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => this.flush());
  }

  converse(fold: (conversation: ConversationState) => ConversationState): void {
    this.set({ conversation: fold(this.#state.conversation) });
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  flush(): void {
    this.#isScheduled = false;
    const before = this.#told;
    this.#told = this.#state;
    for (const listener of this.#listeners) listener(this.#state, before);
  }
}
