import { expect, test } from "vitest";
import {
  ApiError,
  ConnectionError,
  LanternClient,
  MessageStreamError,
  StreamProtocolError,
  type SessionStreamEvent,
} from "../src/index.js";
import { fakeFetch, frame, json, stream, type StreamWatch } from "./fake-fetch.js";

const MESSAGES = "POST /v1/sessions/s1/messages";
const EVENTS = "GET /v1/sessions/s1/events";
const accepted = json(202, { sessionId: "s1", turnId: "t1", cursor: "1-0" });
const usage = { tokensIn: 1, tokensOut: 2, costUsd: 0.5 };
const done = (text: string, id = ""): string => frame(id, "message_completed", { text, usage });
const delta = (seq: number, text: string, id = ""): string =>
  frame(id, "message_delta", { seq, delta: text });

function clientWith(routes: Parameters<typeof fakeFetch>[0]) {
  const fake = fakeFetch(routes);
  const client = new LanternClient({
    baseUrl: "http://lantern.test",
    apiKey: "lk_test",
    fetch: fake.fetch as typeof fetch,
    retry: { baseMs: 1, capMs: 2, attempts: 4 },
  });
  return { client, calls: fake.calls };
}

async function read(client: LanternClient): Promise<SessionStreamEvent[]> {
  const events: SessionStreamEvent[] = [];
  for await (const event of client.sessions.streamMessage("s1", { content: "Hi" })) {
    events.push(event);
  }
  return events;
}

function deltasOf(events: SessionStreamEvent[]): string[] {
  return events.flatMap((event) => (event.type === "delta" ? [event.delta] : []));
}

test("deltas, then the completed reply, from the message's cursor on", async () => {
  const parts = [delta(1, "Hel", "1-3"), delta(2, "lo", "1-4"), done("Hello", "1-5")];
  const { client, calls } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts) });
  expect(await read(client)).toEqual([
    { type: "delta", delta: "Hel" },
    { type: "delta", delta: "lo" },
    { type: "completed", text: "Hello", usage },
  ]);
  expect(calls[0]?.headers.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
  expect(calls[1]?.path).toBe("/v1/sessions/s1/events?after=1-0");
  expect(calls[1]?.headers.get("authorization")).toBe("Bearer lk_test");
});

test("seq is put in order and given once", async () => {
  const parts = [delta(1, "a"), delta(3, "c"), delta(2, "b"), delta(2, "b"), done("abc")];
  const { client } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts) });
  expect(deltasOf(await read(client))).toEqual(["a", "b", "c"]);
});

test("a missing delta does not hold up the completed text", async () => {
  const parts = [delta(1, "a"), delta(3, "c"), done("abc")];
  const { client } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts, { staysOpen: true }) });
  expect((await read(client)).at(-1)).toMatchObject({ type: "completed", text: "abc" });
});

test("other turns and unknown kinds are ignored", async () => {
  const parts = [
    frame("", "message_delta", { turnId: "t9", seq: 1, delta: "no" }),
    frame("", "message_error", { turnId: "t9", error: "no" }),
    frame("", "brand_new", { text: "no" }),
    done("yes"),
  ];
  const { client } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts) });
  expect(await read(client)).toEqual([{ type: "completed", text: "yes", usage }]);
});

test.each([
  ["message_error", { error: "cut", code: "stream_truncated" }, "stream_truncated"],
  ["turn_failed", { error: "none", code: "provider_error", retryable: true }, "provider_error"],
])("%s throws a typed error", async (kind, payload, code) => {
  const parts = [frame("1-3", kind, payload)];
  const { client } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts, { staysOpen: true }) });
  await expect(read(client)).rejects.toMatchObject({ name: "MessageStreamError", code, turnId: "t1" });
});

test("a canned reply and idle, without an end, is a failed turn", async () => {
  const parts = [frame("", "agent.message", { text: "A sec." }), frame("", "session.status_idle", {})];
  const { client } = clientWith({ [MESSAGES]: accepted, [EVENTS]: stream(parts) });
  await expect(read(client)).rejects.toBeInstanceOf(MessageStreamError);
});

test("a dropped stream is resumed after the last event", async () => {
  const { client, calls } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: [
      stream([delta(1, "Hel", "1-3"), "id: 1-4\nevent: message_delta\ndata: {"]),
      stream([delta(2, "lo", "1-4"), done("Hello", "1-5")]),
    ],
  });
  expect(deltasOf(await read(client))).toEqual(["Hel", "lo"]);
  expect(calls.at(-1)?.path).toBe("/v1/sessions/s1/events?after=1-3");
});

test("a cursor survives a resume that brought nothing", async () => {
  const { client, calls } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: [stream([delta(1, "a", "1-3")]), stream([": beat\n\n"]), stream([done("a", "1-4")])],
  });
  await read(client);
  expect(calls.at(-1)?.path).toBe("/v1/sessions/s1/events?after=1-3");
});

test("a stream that never ends the turn is given up within a bound", async () => {
  const { client, calls } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: stream([delta(1, "a", "1-3")]),
  });
  await expect(read(client)).rejects.toBeInstanceOf(ConnectionError);
  expect(calls.length).toBeLessThan(8);
});

test.each([401, 403, 404, 400])("status %i is an error at once", async (status) => {
  const { client, calls } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: json(status, { error: { code: "not_found", message: "No.", requestId: "r1" } }),
  });
  await expect(read(client)).rejects.toMatchObject({ status, code: "not_found", requestId: "r1" });
  expect(calls).toHaveLength(2);
});

test("a 200 that is no event stream is an error at once", async () => {
  const { client, calls } = clientWith({ [MESSAGES]: accepted, [EVENTS]: json(200, {}) });
  await expect(read(client)).rejects.toBeInstanceOf(StreamProtocolError);
  expect(calls).toHaveLength(2);
});

test("leaving the loop releases the connection", async () => {
  const watch: StreamWatch = { isReleased: false };
  const { client } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: stream([delta(1, "a")], { staysOpen: true, watch }),
  });
  for await (const event of client.sessions.streamMessage("s1", { content: "Hi" })) {
    expect(event).toEqual({ type: "delta", delta: "a" });
    break;
  }
  expect(watch.isReleased).toBe(true);
});

test("an aborted signal ends the reading", async () => {
  const { client } = clientWith({
    [MESSAGES]: accepted,
    [EVENTS]: stream([delta(1, "a")], { staysOpen: true }),
  });
  const ending = new AbortController();
  const reading = (async () => {
    const options = { signal: ending.signal };
    for await (const _ of client.sessions.streamMessage("s1", { content: "Hi" }, options)) {
      ending.abort();
    }
  })();
  await expect(reading).rejects.toMatchObject({ name: "AbortError" });
});

test("silence longer than the watchdog allows makes it reconnect", async () => {
  const { client, calls } = clientWith({
    [EVENTS]: [stream([": open\n\n"], { staysOpen: true }), stream([done("late", "1-1")])],
  });
  for await (const event of client.sessions.follow("s1", { silenceMs: 20 })) {
    expect(event.kind).toBe("message_completed");
    break;
  }
  expect(calls).toHaveLength(2);
});

test("a post without an answer is repeated under the same key", async () => {
  const unreachable = (): never => {
    throw new TypeError("fetch failed");
  };
  const { client, calls } = clientWith({
    [MESSAGES]: [unreachable, json(503, {}), accepted],
  });
  await client.sessions.postMessage("s1", { content: "Hi" });
  const keys = new Set(calls.map(({ headers }) => headers.get("idempotency-key")));
  expect(calls).toHaveLength(3);
  expect(keys.size).toBe(1);
});

test("a refusal is not repeated and says how long to wait", async () => {
  const refusal = { error: { code: "queue_full", message: "Full.", requestId: "r2" } };
  const { client, calls } = clientWith({
    [MESSAGES]: json(429, refusal, { "retry-after": "7" }),
  });
  const error = await client.sessions.postMessage("s1", { content: "Hi" }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: "queue_full", retryAfterS: 7 });
  expect(calls).toHaveLength(1);
});

test("the transcript is read page by page", async () => {
  const row = (id: string) => ({ id, role: "user", content: id, turnId: id, createdAt: "" });
  const { client, calls } = clientWith({
    "GET /v1/sessions/s1/messages": [
      json(200, { data: [row("a")], nextCursor: "c=1" }),
      json(200, { data: [row("b")], nextCursor: null }),
    ],
  });
  const messages = await client.sessions.transcript("s1");
  expect(messages.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(calls[1]?.path).toBe("/v1/sessions/s1/messages?limit=100&after=c%3D1");
});
