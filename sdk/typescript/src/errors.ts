/**
 * Every error the SDK throws.
 *
 *     LanternError
 *     ├── ApiError             the server answered with an error status
 *     ├── ConnectionError      the server could not be reached, or stopped answering
 *     ├── StreamProtocolError  what came back is not the event stream
 *     └── MessageStreamError   the turn itself failed
 */
export class LanternError extends Error {
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export interface ApiErrorInit {
  status: number;
  code: string;
  message: string;
  requestId: string | null;
  retryAfterS: number | null;
  details?: Readonly<Record<string, unknown>>;
}

export class ApiError extends LanternError {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfterS: number | null;
  /** All that the server said of it, such as `limit` or `turnId`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(init: ApiErrorInit) {
    super(init.message, init.code);
    this.status = init.status;
    this.requestId = init.requestId;
    this.retryAfterS = init.retryAfterS;
    this.details = init.details ?? {};
  }
}

export class ConnectionError extends LanternError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, "connection_lost", options);
  }
}

export class StreamProtocolError extends LanternError {
  constructor(message: string, code = "bad_stream") {
    super(message, code);
  }
}

export class MessageStreamError extends LanternError {
  readonly turnId: string;
  readonly retryable: boolean;

  constructor(message: string, code: string, turnId: string, retryable = false) {
    super(message, code);
    this.turnId = turnId;
    this.retryable = retryable;
  }
}

interface ErrorBody {
  code?: unknown;
  message?: unknown;
  requestId?: unknown;
  [detail: string]: unknown;
}

/** Reads `{"error": {code, message, requestId}}`; a body in another form still gives an error. */
export async function apiErrorFrom(response: Response): Promise<ApiError> {
  const body = await readErrorBody(response);
  return new ApiError({
    status: response.status,
    code: typeof body.code === "string" ? body.code : `http_${response.status}`,
    message:
      typeof body.message === "string"
        ? body.message
        : `The server answered ${response.status}.`,
    requestId: typeof body.requestId === "string" ? body.requestId : null,
    retryAfterS: retryAfterS(response.headers.get("retry-after")),
    details: body,
  });
}

async function readErrorBody(response: Response): Promise<ErrorBody> {
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null && "error" in body) {
      const { error } = body;
      if (typeof error === "object" && error !== null) return error as ErrorBody;
    }
  } catch {
    // A proxy's HTML page is still an error with a status.
  }
  return {};
}

function retryAfterS(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
}
