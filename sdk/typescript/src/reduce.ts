import {
  newTurn,
  type ConversationState,
  type ToolCallView,
  type TurnView,
} from "./conversation.js";
import { isLater, type MessageDelta, type SessionEvent } from "./events.js";

/**
 * One event later. Pure; the same event applied twice changes nothing, and no event of
 * one turn ever touches another.
 */
export function applyEvent(
  state: ConversationState,
  event: SessionEvent,
): ConversationState {
  const isKnown = event.id !== "" && !isNews(state, event.id);
  // Deltas are ordered and deduplicated by `seq`, whatever order they come in.
  if (isKnown && event.kind !== "message_delta") return state;
  const lastEventId = isKnown ? state.lastEventId : event.id || state.lastEventId;
  if (!("turnId" in event)) {
    return { ...state, lastEventId, isRunning: event.kind === "session.status_running" };
  }
  return { ...state, lastEventId, turns: applyToTurn(state.turns, event) };
}

function isNews(state: ConversationState, id: string): boolean {
  return state.lastEventId === "" || isLater(id, state.lastEventId);
}

type TurnEvent = Extract<SessionEvent, { turnId: string }>;

function applyToTurn(turns: readonly TurnView[], event: TurnEvent): readonly TurnView[] {
  const at = turns.findIndex((turn) => turn.turnId === event.turnId);
  const before = turns[at] ?? newTurn(event.turnId, event.turnId, "queued");
  const after = nextTurn(before, event);
  if (at === -1) return [...turns, after];
  if (after === before) return turns;
  return turns.map((turn) => (turn === before ? after : turn));
}

function nextTurn(turn: TurnView, event: TurnEvent): TurnView {
  if (event.kind === "agent.message") return withLegacyReply(turn, event.text);
  if (isOver(turn)) return turn;
  switch (event.kind) {
    case "turn_started":
      return { ...turn, phase: "running", operator: event.operator ?? null };
    case "message_delta":
      return withDelta(turn, event);
    case "message_completed":
      return {
        ...turn,
        text: event.text,
        held: {},
        phase: event.stopReason === "cancelled" ? "cancelled" : "completed",
        stopReason: event.stopReason ?? null,
        operator: event.operator ?? turn.operator,
      };
    case "message_error":
      return failed(turn, event.code ?? "internal", event.error);
    case "turn_failed":
      return failed(turn, event.code, event.error);
    case "turn_awaiting_tools":
      return turn;
    default:
      return withToolCall(turn, event);
  }
}

type ToolEvent = Extract<TurnEvent, { callId: string }>;

const TOOL_STATES: Record<ToolEvent["kind"], ToolCallView["state"]> = {
  tool_call_started: "running",
  tool_call_requested: "requested",
  tool_approval_requested: "asking",
  tool_call_completed: "completed",
  tool_call_failed: "failed",
};

function isOver(turn: TurnView): boolean {
  return (
    turn.phase === "completed" || turn.phase === "cancelled" || turn.phase === "failed"
  );
}

function withDelta(turn: TurnView, event: MessageDelta): TurnView {
  if (event.seq < turn.nextSeq) return turn;
  if (event.seq > turn.nextSeq) {
    return {
      ...turn,
      phase: "running",
      held: { ...turn.held, [event.seq]: event.delta },
    };
  }
  let text = turn.text + event.delta;
  let nextSeq = event.seq + 1;
  const held = { ...turn.held };
  for (let next = held[nextSeq]; next !== undefined; next = held[nextSeq]) {
    text += next;
    delete held[nextSeq];
    nextSeq += 1;
  }
  return { ...turn, phase: "running", text, nextSeq, held };
}

/** A failed turn's partial text is withdrawn: it may not be taken for an answer. */
function failed(turn: TurnView, code: string, message: string): TurnView {
  return { ...turn, phase: "failed", text: "", held: {}, failure: { code, message } };
}

function withLegacyReply(turn: TurnView, text: string): TurnView {
  const hasReply = turn.phase === "completed" || turn.phase === "cancelled";
  // A canned reply stands in only where nothing had been shown yet.
  if (hasReply || turn.text !== "" || turn.nextSeq > 1) return turn;
  return { ...turn, text, phase: turn.phase === "failed" ? "failed" : "completed" };
}

function withToolCall(turn: TurnView, event: ToolEvent): TurnView {
  const { callId, name } = event;
  const before = turn.toolCalls.find((call) => call.callId === callId);
  const given = "arguments" in event ? event.arguments : before?.arguments;
  const call: ToolCallView = { callId, name, state: TOOL_STATES[event.kind], arguments: given };
  const toolCalls =
    before === undefined
      ? [...turn.toolCalls, call]
      : turn.toolCalls.map((each) => (each === before ? call : each));
  return { ...turn, phase: "running", toolCalls };
}
