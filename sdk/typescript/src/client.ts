import { apiErrorFrom, ConnectionError, LanternError } from "./errors.js";
import { backoffMs, DEFAULT_RETRY, sleep, type RetryPolicy } from "./retry.js";
import { Sessions } from "./sessions.js";

export interface ClientOptions {
  /** The server's address, with or without a path: `https://chat.example.com`. */
  baseUrl?: string;
  apiKey?: string;
  fetch?: typeof fetch;
  headers?: Record<string, string>;
  credentials?: RequestCredentials;
  retry?: Partial<RetryPolicy>;
}

export interface RequestOptions {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Only for calls that may be repeated without a second effect. */
  repeatable?: boolean;
  /** `no-cache` lets the browser keep the answer, and ask each time whether it still holds. */
  cache?: "no-store" | "no-cache";
}

const GATEWAY_FAILURES = new Set([502, 503, 504]);

export class LanternClient {
  readonly sessions: Sessions;
  readonly retry: RetryPolicy;
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;
  readonly #credentials: RequestCredentials | undefined;

  constructor(options: ClientOptions = {}) {
    this.#baseUrl = (options.baseUrl ?? "http://127.0.0.1:8000").replace(/\/+$/, "");
    // Called unbound, the browser's fetch throws "Illegal invocation".
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#headers = { ...options.headers };
    if (options.apiKey !== undefined) {
      this.#headers["authorization"] = `Bearer ${options.apiKey}`;
    }
    this.#credentials = options.credentials;
    this.retry = { ...DEFAULT_RETRY, ...options.retry };
    this.sessions = new Sessions(this);
  }

  /** One request, no retry; resolves with whatever status the server gave. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const init: RequestInit = {
      method: options.method ?? "GET",
      headers: {
        accept: "application/json",
        ...this.#headers,
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      cache: options.cache ?? "no-store",
    };
    if (options.body !== undefined) init.body = JSON.stringify(options.body);
    if (options.signal) init.signal = options.signal;
    if (this.#credentials) init.credentials = this.#credentials;
    try {
      return await this.#fetch(`${this.#baseUrl}${path}`, init);
    } catch (cause) {
      if (options.signal?.aborted || cause instanceof LanternError) throw cause;
      throw new ConnectionError("The server could not be reached.", { cause });
    }
  }

  /** A JSON call; throws `ApiError` on an error status. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.#sendChecked(path, options);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** A call that gives bytes; throws `ApiError` on an error status. */
  async blob(path: string, options: RequestOptions = {}): Promise<Blob> {
    return (await this.#sendChecked(path, { cache: "no-cache", ...options })).blob();
  }

  async #sendChecked(path: string, options: RequestOptions): Promise<Response> {
    const response = await this.#sendWithRetry(path, options);
    if (!response.ok) throw await apiErrorFrom(response);
    return response;
  }

  async #sendWithRetry(path: string, options: RequestOptions): Promise<Response> {
    const repeatable = options.repeatable ?? (options.method ?? "GET") === "GET";
    const tries = repeatable ? Math.min(this.retry.attempts, 3) : 1;
    const signal = options.signal ?? new AbortController().signal;
    for (let failures = 1; ; failures += 1) {
      try {
        const response = await this.send(path, options);
        if (!GATEWAY_FAILURES.has(response.status) || failures >= tries) return response;
        await response.body?.cancel();
      } catch (error) {
        if (signal.aborted || failures >= tries) throw error;
      }
      await sleep(backoffMs(failures, this.retry), signal);
      signal.throwIfAborted();
    }
  }
}
