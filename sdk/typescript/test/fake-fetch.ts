import { vi } from "vitest";

export interface Call {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

type Answer = (call: Call, signal: AbortSignal | null) => Response | Promise<Response>;

/** A `fetch` that answers from a list, one after the other; the last one stays. */
export function fakeFetch(routes: Record<string, Answer | Answer[]>) {
  const calls: Call[] = [];
  const fetch = vi.fn(async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const url = new URL(String(input));
    const path = url.pathname + url.search;
    const method = init.method ?? "GET";
    const call: Call = {
      method,
      path,
      headers: new Headers(init.headers),
      body: typeof init.body === "string" ? JSON.parse(init.body) : undefined,
    };
    calls.push(call);
    const route = routes[`${method} ${url.pathname}`];
    const answer = Array.isArray(route) ? (route.length > 1 ? route.shift() : route[0]) : route;
    if (answer === undefined) throw new Error(`No answer for ${method} ${path}`);
    return answer(call, init.signal ?? null);
  });
  return { fetch, calls };
}

export function json(status: number, body: unknown, headers: HeadersInit = {}): Answer {
  return () => Response.json(body, { status, headers });
}

export interface StreamWatch {
  isReleased: boolean;
}

/** An event stream that sends its parts, then ends, or stays open. */
export function stream(
  parts: string[],
  { staysOpen = false, watch }: { staysOpen?: boolean; watch?: StreamWatch } = {},
): Answer {
  return () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        if (!staysOpen) controller.close();
      },
      cancel() {
        if (watch) watch.isReleased = true;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

export function frame(id: string, event: string, payload: object): string {
  const text = JSON.stringify({ sessionId: "s1", turnId: "t1", ...payload });
  return `${id ? `id: ${id}\n` : ""}event: ${event}\ndata: ${text}\n\n`;
}
