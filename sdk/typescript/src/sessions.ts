import type { LanternClient } from "./client.js";
import { ConnectionError } from "./errors.js";
import { ReplyReader, type SessionStreamEvent } from "./reply-reader.js";
import { SessionStream, type SessionStreamOptions } from "./session-stream.js";

export interface Session {
  id: string;
  status: "idle" | "running" | "awaiting_tools" | "closed";
  agent?: string;
  title?: string | null;
  /** In lists: how the user began. */
  firstWords?: string | null;
  /** The person who has taken over from the agent. */
  operator?: string | null;
  createdAt?: string;
  updatedAt?: string;
}

export interface Message {
  id: string;
  role: string;
  content: string;
  turnId: string | null;
  createdAt: string;
  attachments?: readonly StoredFile[];
  /** A later answer took its place. */
  superseded?: boolean;
  /** The person who answered with it, or to whom it was brought. */
  operator?: string;
}

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

export interface AcceptedTurn {
  sessionId: string;
  turnId: string;
  /** The event id after which this turn's events begin. */
  cursor: string;
}

export interface NewSession {
  agent?: string;
  title?: string;
  metadata?: Record<string, unknown>;
  user?: string;
  systemPrompt?: string;
}

/** A tool that this client runs itself. */
export interface ClientTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  inputSchema: Record<string, unknown>;
}

export interface ToolResult {
  id: string;
  content: string;
  isError?: boolean;
}

/** A file to send; `data` is base64. */
export interface NewFile {
  name: string;
  mediaType: string;
  data: string;
}

export interface StoredFile {
  id: string;
  name: string;
  mediaType: string;
  size: number;
}

export interface NewMessage {
  content: string;
  attachments?: readonly NewFile[];
  clientTools?: readonly ClientTool[];
  onBusy?: "queue" | "reject" | "interrupt";
  failover?: "off";
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** The same key for the same message never runs, or bills, a second turn. */
  idempotencyKey?: string | undefined;
}

const PAGE_LIMIT = 100;

export class Sessions {
  readonly #client: LanternClient;

  constructor(client: LanternClient) {
    this.#client = client;
  }

  create(session: NewSession = {}, options: CallOptions = {}): Promise<Session> {
    return this.#client.json("/v1/sessions", {
      method: "POST",
      body: session,
      signal: options.signal,
    });
  }

  get(sessionId: string, options: CallOptions = {}): Promise<Session> {
    return this.#client.json(pathOf(sessionId), { signal: options.signal });
  }

  /** One page, newest first. */
  list(
    query: { limit?: number; after?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<Session>> {
    const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
    return this.#client.json(`/v1/sessions?${new URLSearchParams(given)}`, {
      signal: options.signal,
    });
  }

  update(
    sessionId: string,
    changes: Pick<NewSession, "title" | "metadata">,
    options: CallOptions = {},
  ): Promise<Session> {
    return this.#client.json(pathOf(sessionId), {
      method: "PATCH",
      body: changes,
      signal: options.signal,
    });
  }

  /** Deletes the session and everything below it. */
  delete(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.#client.json(pathOf(sessionId), {
      method: "DELETE",
      signal: options.signal,
    });
  }

  /** Queues a turn. A try that got no answer is repeated under the same key. */
  postMessage(
    sessionId: string,
    message: NewMessage,
    options: CallOptions = {},
  ): Promise<AcceptedTurn> {
    return this.#begin(sessionId, "messages", message, options);
  }

  /** Has the server send the transcript to an address; resolves once it was sent. */
  emailTranscript(sessionId: string, email: string, options: CallOptions = {}): Promise<void> {
    return this.#client.json(`${pathOf(sessionId)}/transcript`, {
      method: "POST",
      body: { email },
      signal: options.signal,
    });
  }

  /** The whole transcript, oldest first. */
  async transcript(sessionId: string, options: CallOptions = {}): Promise<Message[]> {
    const messages: Message[] = [];
    let after: string | null = null;
    do {
      const next: string = after === null ? "" : `&after=${encodeURIComponent(after)}`;
      const page: Page<Message> = await this.#client.json(
        `${pathOf(sessionId)}/messages?limit=${PAGE_LIMIT}${next}`,
        { signal: options.signal },
      );
      messages.push(...page.data);
      after = page.nextCursor;
    } while (after !== null);
    return messages;
  }

  /** A file that came with a message, as it was sent. */
  attachment(sessionId: string, fileId: string, options: CallOptions = {}): Promise<Blob> {
    const path = `${pathOf(sessionId)}/attachments/${encodeURIComponent(fileId)}`;
    return this.#client.blob(path, { signal: options.signal });
  }

  /** Stops a turn; what was streamed until then is kept. */
  async cancelTurn(
    sessionId: string,
    turnId: string,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#postToTurn(sessionId, turnId, "cancel", {}, options, true);
  }

  #postToTurn(
    sessionId: string,
    turnId: string,
    what: string,
    body: unknown,
    { signal }: CallOptions,
    repeatable = false,
  ): Promise<void> {
    const path = `${pathOf(sessionId)}/turns/${encodeURIComponent(turnId)}/${what}`;
    return this.#client.json(path, { method: "POST", body, signal, repeatable });
  }

  async rateTurn(
    sessionId: string,
    turnId: string,
    feedback: { rating: "up" | "down"; comment?: string },
    options: CallOptions = {},
  ): Promise<void> {
    await this.#postToTurn(sessionId, turnId, "feedback", feedback, options);
  }

  /** Results of the client's own tools; the turn goes on when none is missing. */
  async sendToolResults(
    sessionId: string,
    turnId: string,
    results: readonly ToolResult[],
    options: CallOptions = {},
  ): Promise<void> {
    await this.#postToTurn(sessionId, turnId, "toolResults", { results }, options);
  }

  /** A yes or no to calls that wait for one. */
  async approveToolCalls(
    sessionId: string,
    turnId: string,
    approvals: readonly { id: string; allow: boolean }[],
    options: CallOptions = {},
  ): Promise<void> {
    await this.#postToTurn(sessionId, turnId, "approvals", { approvals }, options);
  }

  /** Answers the last user message again, in a new turn. */
  regenerate(sessionId: string, options: CallOptions = {}): Promise<AcceptedTurn> {
    return this.#begin(sessionId, "regenerate", {}, options);
  }

  /** Has a person answer in the agent's place; for staff and keys that may. */
  takeOver(sessionId: string, name?: string, options: CallOptions = {}): Promise<Session> {
    return this.#client.json(`${pathOf(sessionId)}/takeover`, {
      method: "POST",
      body: name === undefined ? {} : { name },
      signal: options.signal,
    });
  }

  /** Lets the agent answer again. */
  giveBack(sessionId: string, options: CallOptions = {}): Promise<Session> {
    return this.#client.json(`${pathOf(sessionId)}/takeover`, {
      method: "DELETE",
      signal: options.signal,
    });
  }

  /** Answers as a person, who takes the session over with it. */
  replyAsOperator(
    sessionId: string,
    reply: { content: string; name?: string },
    options: CallOptions = {},
  ): Promise<AcceptedTurn> {
    return this.#begin(sessionId, "replies", reply, options);
  }

  /** Begins a turn, once, however often the request is made. */
  #begin(
    sessionId: string,
    what: "messages" | "regenerate" | "replies",
    body: unknown,
    { idempotencyKey = newIdempotencyKey(), signal }: CallOptions,
  ): Promise<AcceptedTurn> {
    return this.#client.json(`${pathOf(sessionId)}/${what}`, {
      method: "POST",
      body,
      headers: { "idempotency-key": idempotencyKey },
      signal,
      repeatable: true,
    });
  }

  /** Every event of the session, over as many connections as it takes. */
  follow(sessionId: string, options: SessionStreamOptions = {}): SessionStream {
    return new SessionStream(this.#client, sessionId, options);
  }

  /**
   * Sends a message and yields its reply as it is written.
   *
   * Throws `MessageStreamError` when the turn fails (discard what was yielded before),
   * `ConnectionError` when the stream is lost for good, `ApiError` when the server refuses.
   * Leaving the loop early closes the connection; the turn itself runs on.
   */
  async *streamMessage(
    sessionId: string,
    message: NewMessage,
    options: CallOptions = {},
  ): AsyncGenerator<SessionStreamEvent, void, undefined> {
    const turn = await this.postMessage(sessionId, message, options);
    const events = this.follow(sessionId, { after: turn.cursor, signal: options.signal });
    const reply = new ReplyReader(turn.turnId);
    for await (const event of events) {
      yield* reply.read(event);
      if (reply.isComplete) return;
    }
    options.signal?.throwIfAborted();
    throw new ConnectionError("The event stream ended before the reply did.");
  }
}

function pathOf(sessionId: string): string {
  return `/v1/sessions/${encodeURIComponent(sessionId)}`;
}

export function newIdempotencyKey(): string {
  // randomUUID exists only in secure contexts; a widget may stand on plain http.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
