import { el } from "../dom.js";
import type { PageFacts } from "../host.js";
import type { Translate } from "../i18n/index.js";
import { textButton } from "./button.js";
import { safeStorage } from "./storage.js";

export interface PageContext {
  /** Asks the visitor; hidden once they have answered. */
  element: HTMLElement;
  /** Whether the site wants to know the page at all. */
  setWanted(isWanted: boolean): void;
  /** What is to be kept with the session. */
  metadata(): Metadata;
  /** Brings it to a session that stands already, if it is new there. */
  keep(sessionId: string, update: (metadata: Metadata) => Promise<unknown>): Promise<void>;
}

type Metadata = Record<string, unknown>;

/** What the page says of itself, and its address if the visitor agrees. */
export function createPageContext(key: string, facts: PageFacts, t: Translate): PageContext {
  const storage = safeStorage("localStorage");
  const name = `lantern:${key}:context`;
  let isWanted = false;
  const answer = (isAllowed: boolean): void => {
    storage.set(name, isAllowed ? "yes" : "no");
    element.hidden = true;
  };
  const element = el(
    "div",
    { class: "consent", hidden: true },
    el("span", {}, t("asksContext")),
    textButton("notice-action", t("allow"), () => answer(true)),
    textButton("notice-action", t("decline"), () => answer(false)),
  );
  const metadata = (): Metadata => {
    const mayTell = isWanted && storage.get(name) === "yes";
    const { origin, pathname } = location;
    return {
      ...(Object.keys(facts.context).length === 0 ? {} : { context: facts.context }),
      // Without the query: that is where sites put what is nobody's business.
      ...(mayTell ? { page: { url: origin + pathname, title: document.title } } : {}),
    };
  };
  let kept = "";
  return {
    element,
    metadata,
    async keep(sessionId, update) {
      const now = metadata();
      const text = JSON.stringify([sessionId, now]);
      if (text === kept || Object.keys(now).length === 0) return;
      kept = text;
      await update(now);
    },
    setWanted(given) {
      isWanted = given;
      element.hidden = !isWanted || storage.get(name) !== null;
    },
  };
}
