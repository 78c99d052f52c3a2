/** A hidden page may have slept: a silence longer than one heartbeat is suspicious. */
const AFTER_SLEEP_MS = 20_000;

/**
 * `leave` is called when the page goes out of sight; `check` when it returns: to the
 * foreground, from the back/forward cache, to the network; also when it leaves the network,
 * with a silence that none can have. A page from that cache has lost its connections
 * whatever they claim.
 */
export function onPageReturn(check: (silenceMs: number) => void, leave: () => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  // Loaded in the background, as from a link that was opened in another tab.
  if (document.visibilityState !== "visible") leave();
  const isSeen = (): boolean => document.visibilityState === "visible";
  const whenSeen = (silenceMs: number): void => void (isSeen() && check(silenceMs));
  document.addEventListener(
    "visibilitychange",
    () => {
      if (isSeen()) check(AFTER_SLEEP_MS);
      else leave();
    },
    { signal },
  );
  window.addEventListener("pageshow", (event) => check(event.persisted ? -1 : AFTER_SLEEP_MS), {
    signal,
  });
  window.addEventListener("online", () => whenSeen(0), { signal });
  window.addEventListener("offline", () => whenSeen(Number.MAX_SAFE_INTEGER), { signal });
  return () => ending.abort();
}
