// @vitest-environment node
import { LanternClient } from "@lantern/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { translator } from "../src/i18n/index.js";
import type { SessionAccess } from "../src/panel/access.js";
import { Chat } from "../src/panel/chat.js";
import { Store } from "../src/panel/store.js";
import { FakeServer } from "./fake-server.mjs";

/** The conversation logic against a real socket; only the access is a stand-in. */
let server: FakeServer;
let store: Store;
let chat: Chat;
let sessionId: string | null;
let created = 0;

beforeEach(async () => {
  server = new FakeServer();
  server.paceMs = 2;
  const baseUrl = await server.listen();
  server.tokens.add("lv_test");
  sessionId = null;
  created = 0;
  const client = new LanternClient({
    baseUrl,
    apiKey: "lv_test",
    retry: { baseMs: 5, capMs: 10, attempts: 5 },
  });
  const access: SessionAccess = {
    client,
    current: () => sessionId,
    async ensure() {
      if (sessionId === null) {
        created += 1;
        sessionId = (await client.sessions.create()).id;
      }
      return sessionId;
    },
    forget() {
      sessionId = null;
      return true;
    },
  };
  store = new Store((act) => queueMicrotask(act));
  const ignore = (): void => undefined;
  chat = new Chat(access, store, translator("en"), { onEvent: ignore, onError: ignore });
});

afterEach(async () => {
  chat.dispose();
  await server.close();
});

const outline = (): unknown[] =>
  store.state.conversation.turns.map(({ userText, phase, text }) => [userText, phase, text]);

async function settled(): Promise<void> {
  await vi.waitFor(() => {
    const { turns, isRunning } = store.state.conversation;
    expect(isRunning).toBe(false);
    expect(turns.every(({ phase }) => /completed|cancelled|failed/.test(phase))).toBe(true);
  }, 4000);
}

test("the first message makes a session, and its reply comes in", async () => {
  await chat.show();
  expect(await chat.send("echo one two")).toBe(true);
  await settled();
  expect(outline()).toEqual([["echo one two", "completed", "one two"]]);
  expect(created).toBe(1);
});

test("a return in mid-word loses and repeats nothing", async () => {
  await chat.show();
  await chat.send("echo first");
  await settled();
  await chat.send("echo a b c d e f g h i j k l m n o p");
  await vi.waitFor(() => expect(store.state.conversation.turns[1]?.text).toMatch(/b c/));
  chat.reset();
  await chat.show();
  await vi.waitFor(() => expect(store.state.conversation.turns).toHaveLength(2));
  await settled();
  expect(outline()).toEqual([
    ["echo first", "completed", "first"],
    ["echo a b c d e f g h i j k l m n o p", "completed", "a b c d e f g h i j k l m n o p"],
  ]);
});

test("lost connections are resumed without loss or repetition", async () => {
  await chat.show();
  await chat.send("echo a b c d e f g h i j k l m n o p");
  for (let drop = 0; drop < 3; drop += 1) {
    await new Promise((resolve) => setTimeout(resolve, 15));
    server.dropStreams();
  }
  await settled();
  expect(outline()[0]).toEqual(expect.arrayContaining(["completed", "a b c d e f g h i j k l m n o p"]));
});

test("a turn begun elsewhere shows its user message", async () => {
  await chat.show();
  await chat.send("echo here");
  await settled();
  server.sessions.get(sessionId!)!.post("echo there", "other-tab");
  await vi.waitFor(() => expect(outline()).toHaveLength(2));
  await settled();
  await vi.waitFor(() => expect(outline()[1]).toEqual(["echo there", "completed", "there"]));
});

test("a session that another tab began is joined with its history", async () => {
  await chat.show();
  sessionId = await createElsewhere();
  await chat.send("echo here");
  await vi.waitFor(() => expect(outline()).toHaveLength(2));
  await settled();
  expect(outline()).toEqual([
    ["echo there", "completed", "there"],
    ["echo here", "completed", "here"],
  ]);
});

async function createElsewhere(): Promise<string> {
  const client = new LanternClient({ baseUrl: server.origin, apiKey: "lv_test" });
  const { id } = await client.sessions.create();
  for await (const _ of client.sessions.streamMessage(id, { content: "echo there" })) continue;
  return id;
}

test("stop ends the turn and keeps what was written", async () => {
  await chat.show();
  await chat.send("slow please");
  await vi.waitFor(() => expect(store.state.conversation.turns[0]?.text).not.toBe(""), 2000);
  await chat.stop();
  await settled();
  const [turn] = store.state.conversation.turns;
  expect(turn?.phase).toBe("cancelled");
  expect(turn?.text).toMatch(/^One/);
});

test("an error withdraws the text; another try answers", async () => {
  await chat.show();
  await chat.send("error now");
  await settled();
  expect(outline()).toEqual([["error now", "failed", ""]]);
  expect(await chat.retry()).toBe(true);
  await settled();
  expect(store.state.conversation.turns[1]?.text).toContain("30 days");
});

test("a turn that fails at once shows the canned reply", async () => {
  await chat.show();
  await chat.send("fail");
  await vi.waitFor(() => expect(outline()).toEqual([["fail", "failed", "Give me a second, please."]]));
});

test.each([
  ["refuse 402 budget_exceeded", /limit/],
  ["refuse 429 rate_limited", /too fast/],
  ["refuse 429 queue_full", /waiting/],
  ["refuse 500", /went wrong/],
])("%s: the message is withdrawn and a sentence says why", async (content, sentence) => {
  await chat.show();
  expect(await chat.send(content)).toBe(false);
  expect(outline()).toEqual([]);
  expect(store.state.notice?.text).toMatch(sentence);
});

test.each([
  ["attachments.1.data", "b.png has too many pixels: 50 million are the limit."],
  ["attachments.0.data", "a.txt is too large."],
  ["attachments.7.data", "This message is too long. Please shorten it."],
  ["", "This message is too long. Please shorten it."],
])("too large: the sentence is about what was too large (%s)", async (param, sentence) => {
  const content = new Blob(["x"]);
  const files = [
    { name: "a.txt", mediaType: "text/plain", data: "eA==", content },
    { name: "b.png", mediaType: "image/png", data: "eA==", content },
  ];
  await chat.show();
  expect(await chat.send(`refuse 413 payload_too_large ${param}`, files)).toBe(false);
  expect(store.state.notice?.text).toBe(sentence);
});

test("a session the server forgot is replaced once", async () => {
  sessionId = "sess_gone";
  await chat.show();
  await vi.waitFor(() => expect(sessionId).toBeNull());
  expect(await chat.send("echo back")).toBe(true);
  await settled();
  expect(created).toBe(1);
  expect(server.requests.filter((request) => request.includes("sess_gone"))).toHaveLength(1);
});

test("the stream is open only while shown or while a turn runs", async () => {
  await chat.show();
  await chat.send("echo a b c d e f");
  chat.hide();
  expect(server.streamCount()).toBeLessThanOrEqual(1);
  await settled();
  await vi.waitFor(() => expect(server.streamCount()).toBe(0));
  await chat.show();
  await vi.waitFor(() => expect(server.streamCount()).toBe(1));
  chat.hide();
  await vi.waitFor(() => expect(server.streamCount()).toBe(0));
});

test("out of sight it leaves its connection to others, and catches up on return", async () => {
  await chat.send("echo one");
  await settled();
  await vi.waitFor(() => expect(server.streamCount()).toBe(0));
  chat.show();
  await vi.waitFor(() => expect(server.streamCount()).toBe(1));
  chat.rest();
  await vi.waitFor(() => expect(server.streamCount()).toBe(0));
  [...server.sessions.values()][0]!.post("echo two", "other-tab");
  chat.checkLink(0);
  await vi.waitFor(() => expect(outline()).toHaveLength(2));
  await settled();
  expect(outline()[1]).toEqual(["echo two", "completed", "two"]);
});

test("who has asked waits for the answer out of sight, too", async () => {
  chat.show();
  await chat.send("echo one two three");
  chat.rest();
  await settled();
  expect(outline()).toEqual([["echo one two three", "completed", "one two three"]]);
  await vi.waitFor(() => expect(server.streamCount()).toBe(0));
});

test("begun out of sight, it asks for nothing before it is seen", async () => {
  await chat.send("echo one");
  await settled();
  chat.reset();
  chat.rest();
  server.requests.length = 0;
  chat.show();
  await new Promise((done) => setTimeout(done, 30));
  expect(server.requests).toEqual([]);
  chat.checkLink(0);
  await vi.waitFor(() => expect(outline()).toHaveLength(1));
});
