import type { SseFrame } from "./sse.js";

export interface Usage {
  tokensIn: number;
  tokensOut: number;
  /** `null` means the model has no price, which is not the same as free. */
  costUsd: number | null;
  cachedTokensIn?: number;
  reasoningTokens?: number;
  estimated?: boolean;
}

export type StopReason =
  | "stop"
  | "length"
  | "content_filter"
  | "cancelled"
  | "tool_rounds"
  /** A person has the conversation: the message was brought to them, no model asked. */
  | "handed_over"
  | "unknown";

interface InSession {
  /** `<turn ordinal>-<n>`; empty when the server numbers nothing. */
  id: string;
  sessionId: string;
}

interface InTurn extends InSession {
  turnId: string;
}

interface InToolCall extends InTurn {
  round: number;
  callId: string;
  name: string;
}

export type TurnStarted = InTurn & { kind: "turn_started"; agent: string; operator?: string };
export type MessageDelta = InTurn & { kind: "message_delta"; seq: number; delta: string };
export type MessageCompleted = InTurn & {
  kind: "message_completed";
  text: string;
  usage: Usage;
  stopReason?: StopReason;
  digest?: string;
  /** The person who wrote it, or to whom the message was brought. */
  operator?: string;
};
export type MessageError = InTurn & { kind: "message_error"; error: string; code?: string };
export type TurnFailed = InTurn & {
  kind: "turn_failed";
  error: string;
  code: string;
  retryable: boolean;
};
export type AgentMessage = InTurn & { kind: "agent.message"; text: string };
export type ToolCallStarted = InToolCall & { kind: "tool_call_started"; arguments: unknown };
export type ToolCallRequested = InToolCall & {
  kind: "tool_call_requested";
  arguments: unknown;
};
/** The server runs this call once somebody has allowed it. */
export type ToolApprovalRequested = InToolCall & {
  kind: "tool_approval_requested";
  arguments: unknown;
};
/** The turn waits, at most `waitS` seconds, for what was asked before this. */
export type TurnAwaitingTools = InTurn & { kind: "turn_awaiting_tools"; waitS: number };
export type ToolCallCompleted = InToolCall & {
  kind: "tool_call_completed";
  result: unknown;
  durationMs: number;
};
export type ToolCallFailed = InToolCall & { kind: "tool_call_failed"; error: string };
export type StatusRunning = InSession & { kind: "session.status_running" };
export type StatusIdle = InSession & { kind: "session.status_idle" };

export type SessionEvent =
  | TurnStarted
  | MessageDelta
  | MessageCompleted
  | MessageError
  | TurnFailed
  | AgentMessage
  | ToolCallStarted
  | ToolCallRequested
  | ToolApprovalRequested
  | TurnAwaitingTools
  | ToolCallCompleted
  | ToolCallFailed
  | StatusRunning
  | StatusIdle;

type FieldKind = "string" | "number" | "object";

const IN_TURN = { turnId: "string" } as const;
const IN_TOOL_CALL = { turnId: "string", callId: "string", name: "string" } as const;

/** What must be there before an event is believed. */
const REQUIRED: Record<SessionEvent["kind"], Record<string, FieldKind>> = {
  turn_started: IN_TURN,
  message_delta: { ...IN_TURN, seq: "number", delta: "string" },
  message_completed: { ...IN_TURN, text: "string" },
  message_error: { ...IN_TURN, error: "string" },
  turn_failed: { ...IN_TURN, error: "string" },
  "agent.message": { ...IN_TURN, text: "string" },
  tool_call_started: IN_TOOL_CALL,
  tool_call_requested: IN_TOOL_CALL,
  tool_approval_requested: IN_TOOL_CALL,
  turn_awaiting_tools: IN_TURN,
  tool_call_completed: IN_TOOL_CALL,
  tool_call_failed: IN_TOOL_CALL,
  "session.status_running": {},
  "session.status_idle": {},
};

/** Gives `null` for a kind this version does not know, and for a payload it cannot read. */
export function parseSessionEvent(frame: SseFrame): SessionEvent | null {
  if (!Object.hasOwn(REQUIRED, frame.event)) return null;
  const kind = frame.event as SessionEvent["kind"];
  const payload = parseObject(frame.payload);
  if (payload === null) return null;
  for (const [field, expected] of Object.entries(REQUIRED[kind])) {
    if (typeof payload[field] !== expected) return null;
  }
  return { ...payload, kind, id: frame.id } as unknown as SessionEvent;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Whether `id` stands later in the session's log than `cursor`. */
export function isLater(id: string, cursor: string): boolean {
  const here = parseEventId(id);
  const there = parseEventId(cursor);
  if (here === null || there === null) return id !== cursor;
  return here[0] > there[0] || (here[0] === there[0] && here[1] > there[1]);
}

function parseEventId(id: string): [number, number] | null {
  const match = /^(\d+)-(\d+)$/.exec(id);
  return match === null ? null : [Number(match[1]), Number(match[2])];
}
