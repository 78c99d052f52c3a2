import type { ClientTool, LanternClient } from "@lantern/sdk";

/** Whose conversation it is, and what may be done when the server forgot it. */
export interface SessionAccess {
  readonly client: LanternClient;
  current(): string | null;
  /** The current session, or a new one; parallel callers get the same. */
  ensure(): Promise<string>;
  /** Gives up a session the server does not know; false if there can be no other. */
  forget(sessionId: string): boolean;
  /** Tools that this page runs itself; none where left out. */
  clientTools?(): ClientTool[];
}
