export { LanternClient, type ClientOptions } from "./client.js";
export {
  activeTurn,
  acceptTurn,
  EMPTY_CONVERSATION,
  isActive,
  mergeTranscript,
  proposeReply,
  proposeTurn,
  withdrawTurn,
  type ConversationState,
  type FileView,
  type ToolCallView,
  type TurnFailure,
  type TurnPhase,
  type TurnView,
} from "./conversation.js";
export {
  ApiError,
  ConnectionError,
  LanternError,
  MessageStreamError,
  StreamProtocolError,
} from "./errors.js";
export {
  parseSessionEvent,
  type SessionEvent,
  type StopReason,
  type Usage,
} from "./events.js";
export { applyEvent } from "./reduce.js";
export { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
export {
  SessionStream,
  type LinkState,
  type SessionStreamOptions,
} from "./session-stream.js";
export {
  newIdempotencyKey,
  Sessions,
  type AcceptedTurn,
  type CallOptions,
  type ClientTool,
  type Message,
  type NewFile,
  type NewMessage,
  type NewSession,
  type Page,
  type Session,
  type StoredFile,
  type ToolResult,
} from "./sessions.js";
export { SseDecoder, type SseFrame } from "./sse.js";
export type { SessionStreamEvent } from "./reply-reader.js";
