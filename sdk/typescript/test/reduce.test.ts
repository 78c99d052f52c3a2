import { expect, test } from "vitest";
import {
  acceptTurn,
  applyEvent,
  EMPTY_CONVERSATION,
  mergeTranscript,
  parseSessionEvent,
  proposeTurn,
  type ConversationState,
  type Message,
} from "../src/index.js";
import vectors from "./vectors/reduce.json";

type Row = readonly [id: string, kind: string, payload: object];

function fold(rows: readonly Row[], from = EMPTY_CONVERSATION): ConversationState {
  return rows.reduce((state, [id, kind, payload]) => {
    const text = JSON.stringify({ sessionId: "s1", ...payload });
    const event = parseSessionEvent({ id, event: kind, payload: text });
    return event === null ? state : applyEvent(state, event);
  }, from);
}

function outline(state: ConversationState): unknown[] {
  return state.turns.map(({ turnId, phase, text }) => [turnId, phase, text]);
}

function message(role: string, turnId: string, content: string): Message {
  return { id: `m-${turnId}-${role}`, role, turnId, content, createdAt: "" };
}

test.each(vectors.cases)("$name", ({ events, turns, operators, lastEventId, isRunning }) => {
  const state = fold(events as unknown as Row[]);
  expect(outline(state)).toEqual(turns);
  if (operators !== undefined) expect(state.turns.map((turn) => turn.operator)).toEqual(operators);
  if (lastEventId !== undefined) expect(state.lastEventId).toBe(lastEventId);
  if (isRunning !== undefined) expect(state.isRunning).toBe(isRunning);
});

test.each(vectors.cases)("twice the same: $name", ({ events }) => {
  const rows = events as unknown as Row[];
  const once = fold(rows);
  expect(outline(fold(rows, once))).toEqual(outline(once));
});

test("a transcript tells what people wrote, and what was brought to them", () => {
  const state = mergeTranscript(EMPTY_CONVERSATION, [
    message("user", "t1", "A person, please"),
    message("assistant", "t1", "Gladly."),
    { ...message("assistant", "t2", "Anna here."), operator: "Anna" },
    { ...message("user", "t3", "Thanks"), operator: "Anna" },
  ]);
  expect(state.turns).toMatchObject([
    { operator: null, isAgain: false },
    { operator: "Anna", isAgain: false, text: "Anna here.", phase: "completed" },
    { operator: "Anna", userText: "Thanks", phase: "completed", stopReason: "handed_over" },
  ]);
});

test("a file that was sent from here is known by its id later, and is still here", () => {
  const content = new Blob(["x"]);
  const sent = { name: "a.png", mediaType: "image/png", id: null, content };
  const state = acceptTurn(proposeTurn(EMPTY_CONVERSATION, "k", "Look", [sent]), "k", "t1");
  const stored = { id: "file_1", name: "a.png", mediaType: "image/png", size: 1 };
  const asked = { ...message("user", "t1", "Look"), attachments: [stored] };
  const files = [{ name: "a.png", mediaType: "image/png", id: "file_1" }];
  expect(mergeTranscript(state, [asked]).turns).toMatchObject([{ files: [{ ...files[0], content }] }]);
  expect(mergeTranscript(EMPTY_CONVERSATION, [asked]).turns).toMatchObject([
    { files: [{ ...files[0], content: null }] },
  ]);
});

test("unknown kinds and unreadable payloads are ignored", () => {
  expect(parseSessionEvent({ id: "", event: "new_kind", payload: "{}" })).toBeNull();
  expect(parseSessionEvent({ id: "", event: "toString", payload: "{}" })).toBeNull();
  expect(parseSessionEvent({ id: "", event: "message_delta", payload: "{" })).toBeNull();
  expect(parseSessionEvent({ id: "", event: "message_delta", payload: "null" })).toBeNull();
  expect(parseSessionEvent({ id: "", event: "message_delta", payload: "{}" })).toBeNull();
});

test("events that overtake the answer to the post join its turn", () => {
  let state = proposeTurn(EMPTY_CONVERSATION, "local", "Hi");
  state = fold([["1-1", "message_delta", { turnId: "t1", seq: 1, delta: "Yo" }]], state);
  state = acceptTurn(state, "local", "t1");
  expect(state.turns).toHaveLength(1);
  expect(state.turns[0]).toMatchObject({ key: "local", userText: "Hi", text: "Yo" });
});

test("older messages come before a turn that is streaming", () => {
  let state = fold([["2-1", "message_delta", { turnId: "t2", seq: 1, delta: "B" }]]);
  state = mergeTranscript(state, [
    message("user", "t1", "one"),
    message("assistant", "t1", "A"),
    message("user", "t2", "two"),
  ]);
  expect(outline(state)).toEqual([
    ["t1", "completed", "A"],
    ["t2", "running", "B"],
  ]);
  expect(state.turns[1]?.userText).toBe("two");
});

test("a stored reply wins over what is replayed of it", () => {
  let state = mergeTranscript(EMPTY_CONVERSATION, [
    message("user", "t1", "one"),
    message("assistant", "t1", "All of it"),
  ]);
  state = fold([["1-1", "message_delta", { turnId: "t1", seq: 1, delta: "All" }]], state);
  expect(outline(state)).toEqual([["t1", "completed", "All of it"]]);
});

test("a superseded answer is not shown", () => {
  const old = { ...message("assistant", "t1", "old"), superseded: true };
  const messages = [message("user", "t1", "one"), old, message("assistant", "t2", "new")];
  expect(outline(mergeTranscript(EMPTY_CONVERSATION, messages))).toEqual([
    ["t1", "unanswered", ""],
    ["t2", "completed", "new"],
  ]);
});

test("a tool call keeps its place and its arguments through its states", () => {
  const call = { turnId: "t1", round: 1, callId: "c1", name: "pay" };
  const other = { ...call, callId: "c2", name: "look" };
  const rows: Row[] = [
    ["1-1", "tool_approval_requested", { ...call, arguments: { eur: 5 } }],
    ["1-2", "tool_call_requested", { ...other, arguments: {} }],
    ["1-3", "turn_awaiting_tools", { turnId: "t1", waitS: 60 }],
    ["1-4", "tool_call_completed", { ...call, result: "ok", durationMs: 3 }],
  ];
  const [waiting] = fold(rows.slice(0, 3)).turns;
  expect(waiting?.toolCalls.map(({ state }) => state)).toEqual(["asking", "requested"]);
  expect(fold(rows).turns[0]?.toolCalls).toEqual([
    { callId: "c1", name: "pay", state: "completed", arguments: { eur: 5 } },
    { callId: "c2", name: "look", state: "requested", arguments: {} },
  ]);
});

test("a regenerated answer is told from a first one", () => {
  const old = { ...message("assistant", "t1", "old"), superseded: true };
  const messages = [message("user", "t1", "one"), old, message("assistant", "t2", "new")];
  const stored = mergeTranscript(EMPTY_CONVERSATION, messages);
  expect(stored.turns.map(({ isAgain }) => isAgain)).toEqual([false, true]);
  expect(proposeTurn(stored, "local", null).turns[2]?.isAgain).toBe(true);
});
