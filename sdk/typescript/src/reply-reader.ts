import { MessageStreamError } from "./errors.js";
import type { SessionEvent, StopReason, Usage } from "./events.js";

export type SessionStreamEvent =
  | { type: "delta"; delta: string }
  | { type: "completed"; text: string; usage: Usage; stopReason?: StopReason };

/** Picks one turn's reply out of a session's events, deltas in the order of `seq`. */
export class ReplyReader {
  isComplete = false;
  readonly #turnId: string;
  readonly #held = new Map<number, string>();
  #nextSeq = 1;
  #cannedReply: string | null = null;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  *read(event: SessionEvent): Generator<SessionStreamEvent, void> {
    if ("turnId" in event && event.turnId !== this.#turnId) return;
    switch (event.kind) {
      case "message_delta":
        if (event.seq >= this.#nextSeq) this.#held.set(event.seq, event.delta);
        yield* this.#release();
        return;
      case "message_completed":
        this.isComplete = true;
        yield completed(event.text, event.usage, event.stopReason);
        return;
      case "message_error":
        throw new MessageStreamError(event.error, event.code ?? "internal", this.#turnId);
      case "turn_failed":
        throw new MessageStreamError(
          event.error,
          event.code,
          this.#turnId,
          event.retryable,
        );
      case "agent.message":
        this.#cannedReply = event.text;
        return;
      case "session.status_idle":
        // A server without `turn_failed` ends a failed turn with the canned reply alone.
        if (this.#cannedReply !== null) {
          throw new MessageStreamError(this.#cannedReply, "provider_error", this.#turnId);
        }
    }
  }

  *#release(): Generator<SessionStreamEvent, void> {
    for (
      let delta = this.#held.get(this.#nextSeq);
      delta !== undefined;
      delta = this.#held.get(this.#nextSeq)
    ) {
      this.#held.delete(this.#nextSeq);
      this.#nextSeq += 1;
      yield { type: "delta", delta };
    }
  }
}

function completed(
  text: string,
  usage: Usage,
  stopReason: StopReason | undefined,
): SessionStreamEvent {
  const event = { type: "completed", text, usage } as const;
  return stopReason === undefined ? event : { ...event, stopReason };
}
