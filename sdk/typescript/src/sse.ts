import { StreamProtocolError } from "./errors.js";

export interface SseFrame {
  event: string;
  payload: string;
  /** The stream's last event id once this frame is dispatched. */
  id: string;
}

/** Security limit: a server that never ends an event may not fill the memory. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

const LINE_END = /[\r\n]/g;

/**
 * A decoder of `text/event-stream` that does no I/O: feed bytes, get frames.
 *
 * Reads may end anywhere, in the middle of a character or between CR and LF.
 * An event that was not ended by a blank line is never returned: the reader resumes
 * from `lastEventId` and gets it whole.
 */
export class SseDecoder {
  lastEventId = "";
  /** The server's `retry:` in milliseconds, if it sent one. */
  retryMs: number | null = null;

  readonly #maxChars: number;
  #text = new TextDecoder();
  #line = "";
  #skipLineFeed = false;
  #event = "";
  #payload: string[] = [];
  #payloadChars = 0;
  #id = "";

  constructor(options: { maxEventChars?: number } = {}) {
    this.#maxChars = options.maxEventChars ?? MAX_EVENT_CHARS;
  }

  feed(bytes: Uint8Array): SseFrame[] {
    const frames: SseFrame[] = [];
    const text = this.#text.decode(bytes, { stream: true });
    let start = 0;
    if (this.#skipLineFeed && text.length > 0) {
      // A CR ended the line at once, so that a stream ending in CR is dispatched;
      // its LF belongs to the same line end.
      if (text.startsWith("\n")) start = 1;
      this.#skipLineFeed = false;
    }
    LINE_END.lastIndex = start;
    for (let end = LINE_END.exec(text); end !== null; end = LINE_END.exec(text)) {
      const frame = this.#endLine(text.slice(start, end.index));
      if (frame !== null) frames.push(frame);
      start = this.#afterLineEnd(text, end.index);
      LINE_END.lastIndex = start;
    }
    this.#line += text.slice(start);
    this.#checkSize();
    return frames;
  }

  #afterLineEnd(text: string, at: number): number {
    if (text[at] === "\n") return at + 1;
    if (at + 1 === text.length) this.#skipLineFeed = true;
    return text[at + 1] === "\n" ? at + 2 : at + 1;
  }

  #endLine(rest: string): SseFrame | null {
    const line = this.#line + rest;
    this.#line = "";
    if (line === "") return this.#dispatch();
    if (!line.startsWith(":")) this.#field(line);
    return null;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") {
      this.#payload.push(value);
      this.#payloadChars += value.length;
      this.#checkSize();
    } else if (name === "event") {
      this.#event = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.#id = value;
    } else if (name === "retry" && /^\d+$/.test(value)) {
      this.retryMs = Number(value);
    }
  }

  #dispatch(): SseFrame | null {
    this.lastEventId = this.#id;
    const frame =
      this.#payload.length === 0
        ? null
        : {
            event: this.#event || "message",
            payload: this.#payload.join("\n"),
            id: this.#id,
          };
    this.#event = "";
    this.#payload = [];
    this.#payloadChars = 0;
    return frame;
  }

  #checkSize(): void {
    if (this.#line.length + this.#payloadChars > this.#maxChars) {
      throw new StreamProtocolError(
        `One event is longer than ${this.#maxChars} characters.`,
        "event_too_long",
      );
    }
  }
}
