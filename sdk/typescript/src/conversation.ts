import type { StopReason } from "./events.js";
import type { Message } from "./sessions.js";

export type TurnPhase =
  /** Posted by this client, not yet accepted. */
  | "sending"
  | "queued"
  | "running"
  | "completed"
  | "cancelled"
  | "failed"
  /** Known from the transcript only, without a reply. */
  | "unanswered";

export interface ToolCallView {
  callId: string;
  name: string;
  /** `requested` waits for this client to run it, `asking` for somebody's yes or no. */
  state: "running" | "requested" | "asking" | "completed" | "failed";
  arguments: unknown;
}

/** A file that came with a message. */
export interface FileView {
  name: string;
  mediaType: string;
  /** Known once the message was read from the transcript. */
  id: string | null;
  /** The file itself, where this client sent it. */
  content: Blob | null;
}

export interface TurnFailure {
  code: string;
  message: string;
}

export interface TurnView {
  /** Stays the same from the optimistic bubble to the stored turn. */
  key: string;
  turnId: string | null;
  /** When it began, in RFC 3339; known once it was read from the transcript. */
  at: string | null;
  userText: string | null;
  /** The files that came with it. */
  files: readonly FileView[];
  /** It answers the message of the turn before it again. */
  isAgain: boolean;
  /** The person who speaks in the agent's place, or was brought the message. */
  operator: string | null;
  /** The reply as far as it is known. */
  text: string;
  phase: TurnPhase;
  failure: TurnFailure | null;
  stopReason: StopReason | null;
  toolCalls: readonly ToolCallView[];
  nextSeq: number;
  /** Deltas that came before their turn, by `seq`. */
  held: Readonly<Record<number, string>>;
}

export interface ConversationState {
  turns: readonly TurnView[];
  isRunning: boolean;
  lastEventId: string;
}

export const EMPTY_CONVERSATION: ConversationState = {
  turns: [],
  isRunning: false,
  lastEventId: "",
};

export function newTurn(key: string, turnId: string | null, phase: TurnPhase): TurnView {
  return {
    key,
    turnId,
    at: null,
    userText: null,
    files: [],
    isAgain: false,
    operator: null,
    text: "",
    phase,
    failure: null,
    stopReason: null,
    toolCalls: [],
    nextSeq: 1,
    held: {},
  };
}

export function isActive(turn: TurnView): boolean {
  return turn.phase === "sending" || turn.phase === "queued" || turn.phase === "running";
}

export function activeTurn(state: ConversationState): TurnView | null {
  return (
    state.turns.find((turn) => turn.phase === "running") ??
    state.turns.find(isActive) ??
    null
  );
}

/** The user's message is shown at once, before the server has accepted it. */
export function proposeTurn(
  state: ConversationState,
  key: string,
  userText: string | null,
  files: readonly FileView[] = [],
): ConversationState {
  const isAgain = userText === null;
  const turn = { ...newTurn(key, null, "sending"), userText, files, isAgain };
  return { ...state, turns: [...state.turns, turn] };
}

/** A person's reply is shown at once, too. */
export function proposeReply(
  state: ConversationState,
  key: string,
  text: string,
  operator: string,
): ConversationState {
  const turn = { ...newTurn(key, null, "sending"), text, operator };
  return { ...state, turns: [...state.turns, turn] };
}

/** The server accepted; its events may already have come, under the id only it knew. */
export function acceptTurn(
  state: ConversationState,
  key: string,
  turnId: string,
): ConversationState {
  const proposed = state.turns.find((turn) => turn.key === key);
  if (proposed === undefined) return state;
  const streamed = state.turns.find((turn) => turn.turnId === turnId);
  const accepted: TurnView =
    streamed === undefined
      ? { ...proposed, turnId, phase: "queued" }
      : {
          ...streamed,
          key,
          userText: proposed.userText ?? streamed.userText,
          files: proposed.files,
          isAgain: proposed.isAgain,
        };
  const turns = state.turns
    .filter((turn) => turn !== streamed)
    .map((turn) => (turn === proposed ? accepted : turn));
  return { ...state, turns };
}

export function withdrawTurn(state: ConversationState, key: string): ConversationState {
  return { ...state, turns: state.turns.filter((turn) => turn.key !== key) };
}

/**
 * Brings the stored messages in. A turn whose reply is stored is finished with that text:
 * its streamed events, before or after, change nothing.
 */
export function mergeTranscript(
  state: ConversationState,
  messages: readonly Message[],
): ConversationState {
  const turns = [...state.turns];
  let place = -1;
  for (const message of messages) {
    const turnId = message.turnId ?? message.id;
    const known = turns.findIndex((turn) => turn.turnId === turnId);
    if (known === -1) {
      place += 1;
      turns.splice(place, 0, storedIn(newTurn(turnId, turnId, "unanswered"), message));
    } else {
      place = Math.max(place, known);
      turns[known] = storedIn(turns[known]!, message);
    }
  }
  return { ...state, turns };
}

function storedIn(before: TurnView, message: Message): TurnView {
  let turn = { ...before, at: before.at ?? message.createdAt };
  const operator = message.operator ?? turn.operator;
  if (message.role === "user") {
    const files = (message.attachments ?? []).map(({ id, name, mediaType }, at) => {
      const content = turn.files[at]?.content ?? null;
      return { id, name, mediaType, content };
    });
    const asked = { ...turn, operator, userText: message.content, files, isAgain: false };
    return operator !== null && turn.phase === "unanswered" ? broughtTo(asked) : asked;
  }
  if (message.role !== "assistant") return turn;
  turn = { ...turn, operator };
  // The message it answers is stored before it, with the first turn that answered.
  const isAgain = turn.userText === null && message.turnId !== null && operator === null;
  if (message.superseded === true) return { ...turn, isAgain };
  turn = { ...turn, isAgain };
  if (turn.phase === "cancelled") return { ...turn, text: message.content };
  return { ...turn, text: message.content, phase: "completed", failure: null, held: {} };
}

function broughtTo(turn: TurnView): TurnView {
  return { ...turn, phase: "completed", stopReason: "handed_over" };
}
