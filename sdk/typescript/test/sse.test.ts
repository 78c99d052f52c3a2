import { expect, test } from "vitest";
import { SseDecoder, StreamProtocolError, type SseFrame } from "../src/index.js";
import vectors from "./vectors/sse.json";

interface Case {
  name: string;
  text?: string;
  hex?: string;
  frames: SseFrame[];
}

function bytesOf({ text, hex }: Case): Uint8Array {
  return hex === undefined ? new TextEncoder().encode(text) : Buffer.from(hex, "hex");
}

function decode(...reads: Uint8Array[]): SseFrame[] {
  const decoder = new SseDecoder();
  return reads.flatMap((bytes) => decoder.feed(bytes));
}

const cases: Case[] = vectors.cases;

test.each(cases)("whole: $name", (vector) => {
  expect(decode(bytesOf(vector))).toEqual(vector.frames);
});

test.each(cases)("byte by byte: $name", (vector) => {
  const reads = [...bytesOf(vector)].map((byte) => Uint8Array.of(byte));
  expect(decode(...reads)).toEqual(vector.frames);
});

test.each(cases)("cut at every offset: $name", (vector) => {
  const bytes = bytesOf(vector);
  for (let at = 0; at <= bytes.length; at += 1) {
    const frames = decode(bytes.subarray(0, at), new Uint8Array(), bytes.subarray(at));
    expect(frames, `cut at ${at}`).toEqual(vector.frames);
  }
});

test("the id counts only once its event was dispatched", () => {
  const decoder = new SseDecoder();
  decoder.feed(new TextEncoder().encode("id: 1-1\ndata: A\n\nid: 1-2\ndata: B\n"));
  expect(decoder.lastEventId).toBe("1-1");
});

test("retry is read as milliseconds", () => {
  const decoder = new SseDecoder();
  decoder.feed(new TextEncoder().encode("retry: 2500\n\n"));
  expect(decoder.retryMs).toBe(2500);
});

test.each(["data: xxxxxxxxxxxx", "data: xxxx\ndata: xxxx\ndata: xxxx\n"])(
  "an event too long is refused: %j",
  (text) => {
    const decoder = new SseDecoder({ maxEventChars: 10 });
    expect(() => decoder.feed(new TextEncoder().encode(text))).toThrow(StreamProtocolError);
  },
);
