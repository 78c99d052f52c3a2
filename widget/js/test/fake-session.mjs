import { newId } from "./fake-server.mjs";
import { replyTo } from "./scripts.mjs";

const USAGE = { tokensIn: 42, tokensOut: 12, costUsd: 0.000018 };

/** One session of the fake server: its log of events, its messages, its readers. */
export class FakeSession {
  readers = new Set();
  messages = [];
  /** Events as `{ordinal, n, name, payload}`. */
  log = [];
  #server;
  #accepted = new Map();
  #queue = Promise.resolve();
  #ordinal = 0;
  #running = null;
  #cancelled = new Set();
  #isClosed = false;
  #updatedAt = new Date().toISOString();
  #heard = () => undefined;
  metadata = {};
  clientTools = [];

  constructor(id, server) {
    this.id = id;
    this.#server = server;
  }

  describe() {
    const status = this.#running === null ? "idle" : "running";
    const firstWords = this.messages[0]?.content ?? null;
    return { id: this.id, status, title: "", firstWords, updatedAt: this.#updatedAt };
  }

  close() {
    this.#isClosed = true;
    this.dropReaders();
  }

  dropReaders() {
    for (const reader of this.readers) reader.destroy();
    this.readers.clear();
  }

  muteReaders() {
    for (const reader of this.readers) reader.write = () => true;
  }

  post(content, idempotencyKey) {
    const known = this.#accepted.get(idempotencyKey);
    if (known !== undefined) return known;
    const accepted = this.begin(content, true);
    this.#accepted.set(idempotencyKey, accepted);
    return accepted;
  }

  begin(content, isNew) {
    this.#ordinal += 1;
    const turn = { id: newId("tur"), ordinal: this.#ordinal, n: 0 };
    if (isNew) this.#store("user", content, turn.id);
    const isRetry = !isNew;
    this.#queue = this.#queue.then(() => this.#run(turn, this.#server.script ?? replyTo(content, isRetry)));
    return { sessionId: this.id, turnId: turn.id, cursor: `${turn.ordinal}-0` };
  }

  lastQuestion() {
    return this.messages.findLast(({ role }) => role === "user").content;
  }

  /** Approvals and tool results: a turn that waits goes on. */
  hear(what, body) {
    this.#heard(body);
  }

  cancel(turnId) {
    this.#cancelled.add(turnId);
  }

  /** Pages of twenty, oldest first. */
  page(after) {
    const from = Number(after ?? 0);
    const next = from + 20;
    return {
      data: this.messages.slice(from, next),
      nextCursor: next < this.messages.length ? String(next) : null,
    };
  }

  follow(response, after) {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    for (const event of this.#later(after)) response.write(frameOf(event));
    this.readers.add(response);
    const beat = setInterval(() => response.write(": beat\n\n"), this.#server.heartbeatMs);
    response.on("close", () => {
      clearInterval(beat);
      this.readers.delete(response);
    });
  }

  #later(after) {
    if (after === undefined || after === null) {
      return this.log.filter(({ ordinal }) => ordinal === this.#running);
    }
    const [ordinal, n] = after.split("-").map(Number);
    return this.log.filter(
      (event) => event.ordinal > ordinal || (event.ordinal === ordinal && event.n > n),
    );
  }

  async #run(turn, reply) {
    this.#running = turn.ordinal;
    this.#emit(turn, "session.status_running", {});
    this.#emit(turn, "turn_started", { agent: "helper" });
    await this.#wait(reply.thinkMs ?? 300);
    await this.#tools(turn, reply.tools ?? []);
    if (reply.asks) await this.#ask(turn, reply);
    if (reply.failsAtOnce) this.#failAtOnce(turn);
    else await this.#stream(turn, reply);
    this.#running = null;
    this.#emit(turn, "session.status_idle", {});
  }

  async #tools(turn, names) {
    for (const name of names) {
      const call = { round: 1, callId: newId("call"), name };
      this.#emit(turn, "tool_call_started", { ...call, arguments: {} });
      await this.#wait(600);
      this.#emit(turn, "tool_call_completed", { ...call, result: "ok", durationMs: 600 });
    }
  }

  /** A call that waits: for a yes, or for the page's own tool. */
  async #ask(turn, reply) {
    const call = { round: 1, callId: newId("call"), name: reply.asks.name };
    const answered = new Promise((resolve) => (this.#heard = resolve));
    this.#emit(turn, reply.asks.event, { ...call, arguments: reply.asks.arguments });
    this.#emit(turn, "turn_awaiting_tools", { waitS: 60 });
    const body = await answered;
    const isRefused = body.approvals?.[0].allow === false;
    const end = isRefused ? { error: "declined" } : { result: "ok", durationMs: 5 };
    const kind = isRefused ? "tool_call_failed" : "tool_call_completed";
    this.#emit(turn, kind, { ...call, ...end });
    if (body.results) reply.deltas = [`The page said: ${body.results[0].content}`];
  }

  #failAtOnce(turn) {
    const failure = { error: "No provider answered.", code: "provider_overloaded", retryable: true };
    this.#emit(turn, "turn_failed", failure);
    this.#emit(turn, "agent.message", { text: "Give me a second, please." });
  }

  async #stream(turn, reply) {
    let text = "";
    let seq = 0;
    for (const delta of reply.deltas) {
      if (this.#isClosed) return;
      if (this.#cancelled.has(turn.id)) return this.#complete(turn, text, "cancelled");
      if (reply.breaksAfter === seq) {
        return this.#emit(turn, "message_error", { error: "partial response discarded", code: "stream_truncated" });
      }
      seq += 1;
      text += delta;
      this.#emit(turn, "message_delta", { seq, delta });
      await this.#wait(reply.paceMs ?? this.#server.paceMs);
    }
    this.#complete(turn, text, "stop");
  }

  #complete(turn, text, stopReason) {
    if (text !== "") this.#store("assistant", text, turn.id);
    this.#emit(turn, "message_completed", { text, usage: USAGE, stopReason });
    this.#emit(turn, "agent.message", { text });
  }

  #store(role, content, turnId) {
    const createdAt = new Date().toISOString();
    this.messages.push({ id: newId("msg"), role, content, turnId, createdAt });
  }

  #emit(turn, name, payload) {
    turn.n += 1;
    const isOfTurn = !name.startsWith("session.");
    const event = {
      ordinal: turn.ordinal,
      n: turn.n,
      name,
      payload: { sessionId: this.id, ...(isOfTurn ? { turnId: turn.id } : {}), ...payload },
    };
    this.log.push(event);
    for (const reader of this.readers) reader.write(frameOf(event));
  }

  #wait(ms) {
    return new Promise((resolve) => setTimeout(resolve, this.#isClosed ? 0 : ms));
  }
}

function frameOf({ ordinal, n, name, payload }) {
  return `id: ${ordinal}-${n}\nevent: ${name}\ndata: ${JSON.stringify(payload)}\n\n`;
}
