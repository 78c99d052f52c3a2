export interface RetryPolicy {
  /** Tries in a row that may fail before the caller hears of it. */
  attempts: number;
  baseMs: number;
  capMs: number;
  random: () => number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  baseMs: 500,
  capMs: 10_000,
  random: Math.random,
};

/** Exponential, with the upper half random: clients cut off together do not return together. */
export function backoffMs(failures: number, policy: RetryPolicy): number {
  const full = Math.min(policy.capMs, policy.baseMs * 2 ** Math.max(0, failures - 1));
  return full / 2 + (full / 2) * policy.random();
}

export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
