import type { LanternClient } from "./client.js";
import { ApiError, apiErrorFrom, ConnectionError, StreamProtocolError } from "./errors.js";
import { isLater, parseSessionEvent, type SessionEvent } from "./events.js";
import { backoffMs, isRetryableStatus, sleep, type RetryPolicy } from "./retry.js";
import { SseDecoder } from "./sse.js";

export type LinkState = "connecting" | "open" | "reconnecting" | "closed";

export interface SessionStreamOptions {
  /** Follow from after this event; left out, the server starts at the running turn, or now. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
  retry?: Partial<RetryPolicy>;
  /** The server's heartbeat comes every 15 s; after this long without a byte the link is dead. */
  silenceMs?: number;
  onLink?: (link: LinkState) => void;
}

const SILENCE_MS = 40_000;
/** A link that lived this long was healthy, whatever it carried. */
const HEALTHY_MS = 10_000;

/** Follows one session's events over as many connections as it takes. */
export class SessionStream implements AsyncIterable<SessionEvent> {
  readonly #client: LanternClient;
  readonly #path: string;
  readonly #policy: RetryPolicy;
  readonly #silenceMs: number;
  readonly #onLink: (link: LinkState) => void;
  readonly #closing = new AbortController();
  #connection = new AbortController();
  #pause = new AbortController();
  #cursor: string | undefined;
  #lastByteAt = 0;
  #failures = 0;

  constructor(client: LanternClient, sessionId: string, options: SessionStreamOptions = {}) {
    this.#client = client;
    this.#path = `/v1/sessions/${encodeURIComponent(sessionId)}/events`;
    this.#policy = { ...client.retry, ...options.retry };
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#onLink = options.onLink ?? (() => undefined);
    this.#cursor = options.after;
    const { signal } = options;
    if (signal?.aborted) this.close();
    else signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  close(): void {
    this.#closing.abort();
    this.#pause.abort();
    this.#connection.abort();
  }

  /**
   * Looks whether the link still lives, after a sleep or a return to the page: ends a
   * pause between tries, and drops a connection that was silent longer than `silenceMs`.
   */
  check(silenceMs = 20_000): void {
    this.#pause.abort();
    if (Date.now() - this.#lastByteAt > silenceMs) this.#connection.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent, void, undefined> {
    this.#onLink("connecting");
    try {
      while (!this.#closing.signal.aborted) {
        const openedAt = Date.now();
        const pauseS = yield* this.#oneConnection();
        if (Date.now() - openedAt > HEALTHY_MS) this.#failures = 0;
        await this.#pauseBeforeRetry(pauseS);
      }
    } finally {
      this.close();
      this.#onLink("closed");
    }
  }

  /** Ends when the connection does, with the pause the server asked for, if any. */
  async *#oneConnection(): AsyncGenerator<SessionEvent, number | null, undefined> {
    this.#connection = new AbortController();
    if (this.#closing.signal.aborted) return null;
    this.#lastByteAt = Date.now();
    const watchdog = setInterval(() => {
      if (Date.now() - this.#lastByteAt > this.#silenceMs) this.#connection.abort();
    }, Math.min(1000, this.#silenceMs));
    try {
      const body = await this.#open();
      this.#onLink("open");
      yield* this.#read(body);
      return null;
    } catch (error) {
      return this.#pauseFor(error);
    } finally {
      clearInterval(watchdog);
      this.#connection.abort();
    }
  }

  async #open(): Promise<ReadableStream<Uint8Array>> {
    const after = this.#cursor ? `?after=${encodeURIComponent(this.#cursor)}` : "";
    const response = await this.#client.send(this.#path + after, {
      headers: { accept: "text/event-stream" },
      signal: this.#connection.signal,
    });
    if (!response.ok) throw await apiErrorFrom(response);
    const type = response.headers.get("content-type") ?? "";
    if (response.body === null || !/^text\/event-stream\b/i.test(type)) {
      throw new StreamProtocolError(`Expected text/event-stream, got "${type}".`);
    }
    return response.body;
  }

  async *#read(body: ReadableStream<Uint8Array>): AsyncGenerator<SessionEvent, void> {
    const decoder = new SseDecoder();
    const reader = body.getReader();
    const release = (): void => void reader.cancel().catch(() => undefined);
    this.#connection.signal.addEventListener("abort", release);
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        this.#lastByteAt = Date.now();
        for (const frame of decoder.feed(read.value)) {
          this.#advance(frame.id);
          const event = parseSessionEvent(frame);
          if (event !== null) yield event;
        }
        if (decoder.retryMs !== null) this.#policy.baseMs = decoder.retryMs;
      }
    } finally {
      release();
    }
  }

  #advance(id: string): void {
    // Only news count as progress: a server that replays the same events for ever
    // must not reset the count of failures.
    if (id === "" || (this.#cursor !== undefined && !isLater(id, this.#cursor))) return;
    this.#cursor = id;
    this.#failures = 0;
  }

  #pauseFor(error: unknown): number | null {
    if (this.#connection.signal.aborted || error instanceof ConnectionError) return null;
    if (error instanceof StreamProtocolError) throw error;
    if (error instanceof ApiError) {
      if (isRetryableStatus(error.status)) return error.retryAfterS;
      throw error;
    }
    return null;
  }

  async #pauseBeforeRetry(askedS: number | null): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#failures += 1;
    if (this.#failures >= this.#policy.attempts) {
      throw new ConnectionError("The event stream was lost and could not be resumed.");
    }
    this.#onLink("reconnecting");
    this.#pause = new AbortController();
    const ms = Math.max(backoffMs(this.#failures, this.#policy), (askedS ?? 0) * 1000);
    await sleep(ms, this.#pause.signal);
  }
}
