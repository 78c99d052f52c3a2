import type { Triggers } from "./options.js";

/** How often the address is looked at: sites that navigate by script tell nobody. */
const LOOK_MS = 1000;

/** Calls back at the first of the moments that were asked for; gives the way to stop. */
export function watchTriggers(triggers: Triggers, act: () => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const fire = (): void => {
    if (signal.aborted) return;
    ending.abort();
    act();
  };
  if (triggers.afterS >= 0) {
    const timer = setTimeout(fire, triggers.afterS * 1000);
    signal.addEventListener("abort", () => clearTimeout(timer));
  }
  if (triggers.onPath !== "") {
    const pattern = pathPattern(triggers.onPath);
    const look = (): void => {
      if (pattern.test(location.pathname)) fire();
    };
    const timer = setInterval(look, LOOK_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    look();
  }
  if (triggers.onExit) {
    const leave = (event: MouseEvent): void => {
      if (event.clientY <= 0 && event.relatedTarget === null) fire();
    };
    document.addEventListener("mouseout", leave, { signal });
  }
  return () => ending.abort();
}

function pathPattern(given: string): RegExp {
  const parts = given.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
