/**
 * A small Lantern server for development and browser tests: loopback only, all in memory.
 *
 *     node test/fake-server.mjs [port]     then open the address it prints
 *
 * What a message says decides its reply; see `scripts.mjs`.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FakeSession } from "./fake-session.mjs";
import { pageFor } from "./pages.mjs";

const staticFolder = fileURLToPath(new URL("../../../static/", import.meta.url));
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers":
    "authorization, content-type, idempotency-key, last-event-id, x-csrftoken",
  "access-control-allow-methods": "GET, POST, PATCH, DELETE, OPTIONS",
  "access-control-expose-headers": "Retry-After",
};

export class FakeServer {
  /** Requests seen, as "METHOD path?query". */
  requests = [];
  sessions = new Map();
  /** Paths that fail, to a status: `server.failing.set("/v1/widget/bootstrap", 503)`. */
  failing = new Map();
  tokens = new Set();
  /** Feedback, approvals and tool results as they came. */
  asked = [];
  /** Bodies of the bootstrap calls. */
  bootstraps = [];
  config = {
    title: "Shop help",
    greeting: "Hello! Ask me anything about orders, sizes and returns.",
    placeholder: "Write a message…",
    agentName: "Ember",
  };
  /** Nobody is told how the launcher is to look. */
  isConfigStalled = false;
  /** Zero bits that a new visitor's proof of work needs; 0 asks for none. */
  difficulty = 0;
  challenges = [];
  isNeverConvinced = false;
  /** Whether every identity has ended. */
  refusesIdentity = false;
  /** Whether visitors need an identity. */
  needsIdentity = false;
  /** What every turn replies, instead of what its message asks for. */
  script = null;
  /** Milliseconds between two deltas. */
  paceMs = 30;
  heartbeatMs = 15_000;
  #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => response.destroy(error));
  });

  async listen(port = 0) {
    await new Promise((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    return this.origin;
  }

  async close() {
    for (const session of this.sessions.values()) session.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Cuts every open event stream, as a lost network would. */
  dropStreams() {
    for (const session of this.sessions.values()) session.dropReaders();
  }

  /** Leaves the open streams standing, and lets nothing through them any more. */
  muteStreams() {
    for (const session of this.sessions.values()) session.muteReaders();
  }

  streamCount() {
    return [...this.sessions.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  async #answer(request, response) {
    const url = new URL(request.url, this.origin);
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    for (const [name, value] of Object.entries(CORS_HEADERS)) response.setHeader(name, value);
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (this.failing.has(url.pathname)) {
      return sendError(response, this.failing.get(url.pathname), "failing");
    }
    if (!url.pathname.startsWith("/v1/")) return this.#sendFile(url, response);
    const body = await readJson(request);
    if (url.pathname === "/v1/widget/bootstrap") return this.#bootstrap(body, response);
    if (url.pathname === "/v1/widget/config") {
      if (this.isConfigStalled) return undefined;
      return sendJson(response, 200, this.config);
    }
    if (!this.#isKnown(request)) return sendError(response, 401, "unauthorized");
    if (url.pathname === "/v1/widget/visitor") return this.#forgetVisitor(response);
    if (url.pathname === "/v1/sessions" && request.method === "GET") {
      const chats = [...this.sessions.values()].reverse().map((each) => each.describe());
      return sendJson(response, 200, { data: chats, nextCursor: null });
    }
    if (url.pathname === "/v1/sessions") {
      const session = new FakeSession(newId("sess"), this);
      session.metadata = body.metadata ?? {};
      this.sessions.set(session.id, session);
      return sendJson(response, 201, session.describe());
    }
    return this.#session(request, url, body, response);
  }

  #isKnown(request) {
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    return this.tokens.has(token) || request.headers["x-csrftoken"] === "csrf";
  }

  #bootstrap(body, response) {
    const { visitor } = body;
    this.bootstraps.push(body);
    if (visitor !== undefined && !this.tokens.has(visitor)) {
      return sendError(response, 401, "unauthorized");
    }
    if (body.identity !== undefined && this.refusesIdentity) {
      return sendError(response, 401, "unauthorized");
    }
    if (body.identity === undefined && this.needsIdentity) {
      return sendError(response, 403, "identity_required");
    }
    const isNew = visitor === undefined && body.identity === undefined;
    if (isNew && this.difficulty > 0 && !this.#isProof(body.proof)) {
      const challenge = newId("challenge");
      this.challenges.push(challenge);
      return sendError(response, 428, "proof_required", {
        challenge,
        difficulty: this.difficulty,
      });
    }
    const visitorToken = newId("lv");
    this.tokens.add(visitorToken);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    return sendJson(response, 200, { visitorToken, expiresAt, session: null, config: this.config });
  }

  #forgetVisitor(response) {
    for (const session of this.sessions.values()) session.close();
    this.sessions.clear();
    return response.writeHead(204).end();
  }

  #isProof(proof) {
    if (this.isNeverConvinced || !this.challenges.includes(proof?.challenge)) return false;
    const text = `${proof.challenge}.${proof.solution}`;
    const digest = createHash("sha256").update(text).digest();
    return Math.clz32(digest.readUInt32BE(0)) >= this.difficulty;
  }

  #session(request, url, body, response) {
    const [, , , id, what, turnId, action] = url.pathname.split("/");
    const session = this.sessions.get(id);
    if (session === undefined) return sendError(response, 404, "not_found");
    const after = url.searchParams.get("after") ?? request.headers["last-event-id"];
    const route = `${request.method} ${action ?? what ?? ""}`;
    if (route === "GET ") return sendJson(response, 200, session.describe());
    if (route === "DELETE ") {
      session.close();
      this.sessions.delete(id);
      return response.writeHead(204).end();
    }
    if (route === "PATCH ") {
      Object.assign(session.metadata, body.metadata);
      return sendJson(response, 200, session.describe());
    }
    if (route === "POST feedback" || route === "POST approvals" || route === "POST toolResults") {
      this.asked.push({ what: action, turnId, ...body });
      session.hear(action, body);
      return sendJson(response, 202, { id: turnId });
    }
    if (route === "GET events") return session.follow(response, after);
    if (route === "GET messages") return sendJson(response, 200, session.page(after));
    if (route === "POST transcript") {
      if (!body.email.endsWith(".example")) return sendError(response, 400, "bad_request");
      this.asked.push({ what, ...body });
      return response.writeHead(204).end();
    }
    if (route === "POST messages") return this.#post(session, request, body, response);
    if (route === "POST regenerate") {
      return sendJson(response, 202, session.begin(session.lastQuestion(), false));
    }
    if (route === "POST cancel") {
      session.cancel(turnId);
      return sendJson(response, 200, { id: turnId, status: "cancelled" });
    }
    return sendError(response, 404, "not_found");
  }

  #post(session, request, { content, clientTools }, response) {
    session.clientTools = clientTools ?? [];
    const refusal = /^refuse (\d+)(?: (\w+))?(?: (\S+))?/.exec(content);
    if (refusal) {
      const [, status, code = "refused", param] = refusal;
      return sendError(response, Number(status), code, { param });
    }
    return sendJson(response, 202, session.post(content, request.headers["idempotency-key"]));
  }

  #sendFile(url, response) {
    const path = url.pathname === "/widget.js" ? "/static/widget/widget.js" : url.pathname;
    const file = join(staticFolder, path.replace("/static/", ""));
    if (path.startsWith("/static/") && !path.includes("..") && existsSync(file)) {
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      return response.end(readFileSync(file));
    }
    const page = pageFor(url, this.origin);
    if (page === null) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...page.headers });
    return response.end(page.html);
  }
}

export function newId(prefix) {
  return `${prefix}_${randomBytes(16).toString("hex")}`;
}

function sendJson(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function sendError(response, status, code, details = {}) {
  sendJson(response, status, {
    error: { code, message: `Refused: ${code}.`, requestId: newId("req"), ...details },
  });
}

async function readJson(request) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return text === "" ? {} : JSON.parse(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = new FakeServer();
  console.log(`Demo page: ${await server.listen(Number(process.argv[2] ?? 8123))}/`);
}
