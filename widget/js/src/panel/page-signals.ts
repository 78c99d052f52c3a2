/** A hidden page may have slept: a silence longer than one heartbeat is suspicious. */
const AFTER_SLEEP_MS = 20_000;

/**
 * Calls back when the page returns: to the foreground, from the back/forward cache, to
 * the network; also when it leaves the network, with a silence that none can have. A page from that cache has lost its connections whatever they claim.
 */
export function onPageReturn(check: (silenceMs: number) => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState === "visible") check(AFTER_SLEEP_MS);
    },
    { signal },
  );
  window.addEventListener("pageshow", (event) => check(event.persisted ? -1 : AFTER_SLEEP_MS), {
    signal,
  });
  window.addEventListener("online", () => check(0), { signal });
  window.addEventListener("offline", () => check(Number.MAX_SAFE_INTEGER), { signal });
  return () => ending.abort();
}
