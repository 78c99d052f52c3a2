import {
  EMPTY_CONVERSATION,
  mergeTranscript,
  proposeTurn,
  type ConversationState,
  type Message,
} from "@lantern/sdk";
import { afterEach, expect, test, vi } from "vitest";
import { translator } from "../src/i18n/index.js";
import { INITIAL_CHAT } from "../src/panel/store.js";
import { clockTime } from "../src/panel/times.js";
import { transcriptOf } from "../src/panel/transcript.js";
import { createThread } from "../src/panel/view/thread.js";

afterEach(() => vi.useRealTimers());

function message(turnId: string, role: string, content: string, more: Partial<Message> = {}): Message {
  return { id: `${turnId}-${role}`, turnId, role, content, createdAt: "", ...more } as Message;
}

function newThread() {
  return createThread({
    t: translator("en"),
    userName: "You",
    agentName: () => "Ember",
    welcome: null,
    loadFile: () => Promise.reject(new Error("none")),
    onFileLost: () => undefined,
    onRetry: () => undefined,
    onRate: null,
    onApprove: () => undefined,
  });
}

/** The times that a thread shows for turns that were asked then; `null` is now. */
function timesOf(...asked: (string | null)[]): string[] {
  const thread = newThread();
  const stored = asked.flatMap((at) => (at ? [message(at, "user", "", { createdAt: at })] : []));
  const conversation = asked
    .slice(stored.length)
    .reduce(
      (state, _, index) => proposeTurn(state, `local-${index}`, "now"),
      mergeTranscript(EMPTY_CONVERSATION, stored),
    );
  thread.update({ ...INITIAL_CHAT, conversation });
  return [...thread.element.querySelectorAll<HTMLTimeElement>(".when:not([hidden])")].map(
    (time) => time.dateTime,
  );
}

test("a pause of more than an hour is marked with the time", () => {
  vi.useFakeTimers({ now: Date.parse("2026-03-02T12:00:00Z") });
  const [early, soon, later] = ["09:00", "09:20", "11:30"].map((time) => `2026-03-02T${time}:00.000Z`);
  expect(timesOf(early!, soon!, later!, null)).toEqual([early, later]);
});

test("a chat that begins now says no time", () => {
  expect(timesOf(null, null)).toEqual([]);
});

/** What a thread says of its turns: of each the notice, if there is one. */
function noticesOf(conversation: ConversationState): string[] {
  const thread = newThread();
  thread.update({ ...INITIAL_CHAT, conversation });
  return [...thread.element.querySelectorAll(".turn")].map((turn) => {
    const notice = turn.querySelector<HTMLElement>(".notice:not([hidden])");
    if (notice === null) return "";
    const hasAction = notice.querySelector(".notice-action:not([hidden])") !== null;
    return `${notice.querySelector(".notice-text")?.textContent}${hasAction ? " [again]" : ""}`;
  });
}

const NO_REPLY = "This message got no reply.";

// Only the last one said so: of the others an operator saw nothing in the dashboard.
test("of each message that got no reply it is said, and the last can be tried again", () => {
  const stored = mergeTranscript(EMPTY_CONVERSATION, [
    message("a", "user", "One"),
    message("b", "user", "Two"),
    message("b", "assistant", "Reply"),
    message("c", "user", "To a person", { operator: "Anna" }),
    message("d", "user", "Three"),
  ]);
  expect(noticesOf(stored)).toEqual([NO_REPLY, "", "", `${NO_REPLY} [again]`]);
  const asked = proposeTurn(stored, "local-1", "Four");
  expect(noticesOf(asked)).toEqual([NO_REPLY, "", "", NO_REPLY, ""]);
});

test("of what waits behind a running turn nothing is said yet", () => {
  const stored = mergeTranscript(EMPTY_CONVERSATION, [
    message("a", "user", "One"),
    message("b", "user", "Two"),
    message("c", "user", "Three"),
  ]);
  const [a, b, c] = stored.turns;
  const isRunning = { ...stored, isRunning: true };
  expect(noticesOf(isRunning)).toEqual(["", "", ""]);
  const turns = [a!, { ...b!, phase: "running" as const }, c!];
  expect(noticesOf({ ...isRunning, turns })).toEqual([NO_REPLY, "", ""]);
});

test("another day is said with its date", () => {
  vi.useFakeTimers({ now: new Date(2026, 2, 2, 12) });
  expect(clockTime(new Date(2026, 2, 2, 9, 5).getTime(), "de")).toBe("09:05");
  expect(clockTime(new Date(2026, 1, 28, 9, 5).getTime(), "de")).toBe("28.02.2026, 09:05");
});

test("a transcript names the person who answered, and the files that came along", () => {
  const file = { id: "f", name: "boots.png", mediaType: "image/png", size: 1 };
  const conversation = mergeTranscript(EMPTY_CONVERSATION, [
    message("a", "user", "Hello?", { attachments: [file] }),
    message("a", "assistant", "Hello."),
    message("b", "user", "", { attachments: [file], operator: "Anna" }),
    message("b", "assistant", "Anna here.", { operator: "Anna" }),
  ]);
  expect(transcriptOf(conversation, { user: "You", agent: "Ember" })).toBe(
    "You:\n[boots.png]\nHello?\n\nEmber:\nHello.\n\nYou:\n[boots.png]\n\nAnna:\nAnna here.\n",
  );
});
