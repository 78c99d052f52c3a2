import { ApiError } from "@lantern/sdk";

export interface Challenge {
  challenge: string;
  /** How many zero bits the solution's hash begins with. */
  difficulty: number;
}

export interface Proof {
  challenge: string;
  solution: string;
}

/** Hashes asked for at once. */
const SLICE = 64;
/**
 * How long the page's thread is kept: short hashes are answered within the same task, so
 * without a pause ten seconds' work would be one task of ten seconds (measured).
 */
const BUSY_MS = 8;

/** What the server wants solved before it takes a new visitor; null if it is another error. */
export function challengeOf(error: unknown): Challenge | null {
  if (!(error instanceof ApiError) || error.code !== "proof_required") return null;
  const { challenge, difficulty } = error.details;
  if (typeof challenge !== "string" || typeof difficulty !== "number") return null;
  // Browsers lend their SHA-256 to secure pages only.
  return globalThis.crypto?.subtle === undefined ? null : { challenge, difficulty };
}

/** Finds the solution, a few milliseconds at a time. */
export async function solve({ challenge, difficulty }: Challenge): Promise<Proof> {
  const encoder = new TextEncoder();
  const hash = (solution: number): Promise<ArrayBuffer> =>
    crypto.subtle.digest("SHA-256", encoder.encode(`${challenge}.${solution}`));
  let pauseAt = performance.now() + BUSY_MS;
  for (let first = 0; ; first += SLICE) {
    if (performance.now() > pauseAt) {
      await new Promise((goOn) => setTimeout(goOn));
      pauseAt = performance.now() + BUSY_MS;
    }
    const slice = Array.from({ length: SLICE }, (_, at) => hash(first + at));
    const found = (await Promise.all(slice)).findIndex(
      (digest) => Math.clz32(new DataView(digest).getUint32(0)) >= difficulty,
    );
    if (found >= 0) return { challenge, solution: String(first + found) };
  }
}
