import { ApiError, LanternClient, type Session } from "@lantern/sdk";
import type { LanternIdentity, PageFacts, WidgetConfig, WidgetOptions } from "../host.js";
import type { SessionAccess } from "./access.js";
import { userIdOf } from "./identity.js";
import { challengeOf, solve, type Proof } from "./proof.js";
import { safeStorage } from "./storage.js";

interface Bootstrap {
  visitorToken: string;
  expiresAt: string;
  session?: Pick<Session, "id" | "status"> | null;
  config: WidgetConfig;
}

interface Remembered {
  visitorToken?: string;
  expiresAt?: string;
  sessionId?: string | null;
  /** The visitor asked for a new chat; the server's latest session is not to come back. */
  isFresh?: boolean;
  /** Whose token it is: the user the page has named, or nobody it knows. */
  userId?: string | null;
}

/** A token is renewed this long before it ends, so that no request meets its end. */
const RENEW_BEFORE_MS = 60_000;
/** A slow machine may find a solution only when its challenge has ended. */
const MAX_PROOFS = 4;

/** The visitor of this browser: token, session, and both kept over reloads. */
export class Visitor implements SessionAccess {
  readonly client: LanternClient;
  readonly #options: WidgetOptions;
  readonly #facts: PageFacts;
  readonly #metadata: () => Record<string, unknown>;
  readonly #storage = safeStorage("localStorage");
  readonly #name: string;
  /** Whether the server sends transcripts by e-mail; known once the visitor has arrived. */
  canEmail = false;
  #renewal: Promise<Bootstrap> | null = null;
  #creation: Promise<string> | null = null;

  /** `metadata` gives what is to be kept with a new session. */
  constructor(
    options: WidgetOptions,
    facts: PageFacts,
    metadata: () => Record<string, unknown> = () => ({}),
  ) {
    this.#options = options;
    this.#facts = facts;
    this.#metadata = metadata;
    this.#name = `lantern:${options.key}`;
    // Pages that are made by a server say at each load who is there, or that nobody is.
    if (facts.identity !== undefined) this.identityChanged();
    this.client = new LanternClient({
      baseUrl: options.server,
      fetch: (input, init) => this.#fetchAsVisitor(input, init),
      credentials: "omit",
      retry: { attempts: 12, capMs: 15_000 },
    });
  }

  /** Makes the visitor known to the server; gives the widget's configuration. */
  async arrive(): Promise<WidgetConfig> {
    const { session, config } = await this.#renew();
    this.canEmail = config.emailTranscript === true;
    const remembered = this.#recall();
    if (session && !remembered.isFresh) this.#remember({ sessionId: session.id });
    return config;
  }

  current(): string | null {
    return this.#recall().sessionId ?? null;
  }

  ensure(): Promise<string> {
    const known = this.current();
    if (known !== null) return Promise.resolve(known);
    this.#creation ??= this.#createSession().finally(() => (this.#creation = null));
    return this.#creation;
  }

  forget(sessionId: string): boolean {
    if (this.current() === sessionId) this.#remember({ sessionId: null });
    return true;
  }

  startFresh(): void {
    this.#remember({ sessionId: null, isFresh: true });
  }

  /** Has the server delete all that this visitor ever said; who writes next is a new one. */
  async deleteAll(): Promise<void> {
    await this.client.json("/v1/widget/visitor", { method: "DELETE", repeatable: true });
    this.#storage.remove(this.#name);
  }

  /** Whether the current session, if there is one, is this visitor's by the present token. */
  async ownsCurrent(): Promise<boolean> {
    const sessionId = this.current();
    if (sessionId === null) return true;
    try {
      await this.client.sessions.get(sessionId);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      return false;
    }
  }

  switchTo(sessionId: string): void {
    this.#remember({ sessionId, isFresh: false });
  }

  /**
   * The page has named another user, or none: true if what was there is not theirs to see.
   * An unnamed visitor who logs in keeps what is on screen until the server has answered.
   */
  identityChanged(): boolean {
    const before = this.#recall().userId ?? null;
    const now = userIdOf(this.#facts.identity);
    if (before === now) return false;
    if (before === null) {
      this.#remember({ expiresAt: "" });
      return false;
    }
    this.#storage.remove(this.#name);
    return true;
  }

  async #createSession(): Promise<string> {
    const metadata = this.#metadata();
    const isEmpty = Object.keys(metadata).length === 0;
    const session = await this.client.sessions.create(isEmpty ? {} : { metadata });
    this.#remember({ sessionId: session.id, isFresh: false });
    return session.id;
  }

  async #fetchAsVisitor(
    input: RequestInfo | URL,
    init: RequestInit = {},
  ): Promise<Response> {
    const { visitorToken, expiresAt } = this.#recall();
    const isEnding = Date.parse(expiresAt ?? "") - Date.now() < RENEW_BEFORE_MS;
    const isCurrent = visitorToken !== undefined && !isEnding;
    const token = isCurrent ? visitorToken : (await this.#renew()).visitorToken;
    const response = await fetch(input, withToken(init, token));
    if (response.status !== 401 || !isCurrent) return response;
    await response.body?.cancel();
    return fetch(input, withToken(init, (await this.#renew()).visitorToken));
  }

  #renew(): Promise<Bootstrap> {
    this.#renewal ??= this.#bootstrap().finally(() => (this.#renewal = null));
    return this.#renewal;
  }

  async #bootstrap(): Promise<Bootstrap> {
    const { visitorToken: old, userId: before = null } = this.#recall();
    const { identity = null } = this.#facts;
    const now = userIdOf(identity);
    const tries: [string | undefined, LanternIdentity | null][] = [[old, identity]];
    // The page's own proof may have ended since; the visitor's token is one, too.
    if (old !== undefined && now !== null && now === before) tries.push([old, null]);
    if (old !== undefined) tries.push([undefined, identity]);
    for (const [at, [visitor, claimed]] of tries.entries()) {
      try {
        const bootstrap = await this.#callBootstrap(visitor, claimed);
        const { visitorToken, expiresAt } = bootstrap;
        this.#remember({ visitorToken, expiresAt, userId: now ?? before });
        // The old token is of no use any more, and neither is what it could see.
        if (visitor !== old) this.#remember({ sessionId: null });
        return bootstrap;
      } catch (error) {
        if (at === tries.length - 1 || !isTokenRefusal(error)) throw error;
      }
    }
    throw new Error("unreachable");
  }

  async #callBootstrap(
    visitor: string | undefined,
    identity: LanternIdentity | null,
  ): Promise<Bootstrap> {
    const client = new LanternClient({
      baseUrl: this.#options.server,
      credentials: "omit",
    });
    const { key } = this.#options;
    const ask = (proof?: Proof): Promise<Bootstrap> =>
      client.json<Bootstrap>("/v1/widget/bootstrap", {
        method: "POST",
        // What is not there is left out of the JSON.
        body: { key, visitor, identity: identity ?? undefined, proof },
        repeatable: true,
      });
    for (let proof: Proof | undefined, tries = 1; ; tries += 1) {
      try {
        return await ask(proof);
      } catch (error) {
        const challenge = challengeOf(error);
        if (challenge === null || tries >= MAX_PROOFS) throw error;
        proof = await solve(challenge);
      }
    }
  }

  #recall(): Remembered {
    try {
      const stored: unknown = JSON.parse(this.#storage.get(this.#name) ?? "{}");
      return typeof stored === "object" && stored !== null ? stored : {};
    } catch {
      return {};
    }
  }

  #remember(change: Remembered): void {
    this.#storage.set(this.#name, JSON.stringify({ ...this.#recall(), ...change }));
  }
}

function isTokenRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 401);
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}
