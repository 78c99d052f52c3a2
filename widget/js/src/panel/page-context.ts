import { el } from "../dom.js";
import type { LanternTool, PageFacts } from "../host.js";
import type { Translate } from "../i18n/index.js";
import { textButton } from "./button.js";
import { createPageTool, pageAddress, type PageTool } from "./page-tool.js";
import { safeStorage } from "./storage.js";

/** What the site wants to know of the page. */
export interface PageWishes {
  /** Its address and title, kept with the conversation. */
  collectContext?: boolean;
  /** A tool for the model: the same, and what is selected. */
  pageTool?: boolean;
}

export interface PageContext {
  /** Asks the visitor; hidden once they have answered. */
  element: HTMLElement;
  setWanted(wishes: PageWishes): void;
  /** The model's tool, once the visitor agrees. */
  tools(): LanternTool[];
  /** What is to be kept with the session. */
  metadata(): Metadata;
  /** Brings it to a session that stands already, if it is new there. */
  keep(sessionId: string, update: (metadata: Metadata) => Promise<unknown>): Promise<void>;
  end(): void;
}

type Metadata = Record<string, unknown>;

/** What the page says of itself, and what the visitor lets the chat see of it. */
export function createPageContext(key: string, facts: PageFacts, t: Translate): PageContext {
  const storage = safeStorage("localStorage");
  const question = el("span", {});
  let wanted: PageWishes = {};
  let tool: PageTool | null = null;
  // To tell more is another question, which a yes to the first does not answer.
  const name = (): string => `lantern:${key}:${wanted.pageTool ? "page" : "context"}`;
  const mayTell = (): boolean => storage.get(name()) === "yes";
  const answer = (isAllowed: boolean): void => {
    storage.set(name(), isAllowed ? "yes" : "no");
    element.hidden = true;
  };
  const element = el(
    "div",
    { class: "consent", hidden: true },
    question,
    textButton("notice-action", t("allow"), () => answer(true)),
    textButton("notice-action", t("decline"), () => answer(false)),
  );
  const metadata = (): Metadata => {
    const isKept = wanted.collectContext === true && mayTell();
    return {
      ...(Object.keys(facts.context).length === 0 ? {} : { context: facts.context }),
      ...(isKept ? { page: { url: pageAddress(), title: document.title } } : {}),
    };
  };
  let kept = "";
  return {
    element,
    metadata,
    tools: () => (tool !== null && mayTell() ? [tool.tool] : []),
    async keep(sessionId, update) {
      const now = metadata();
      const text = JSON.stringify([sessionId, now]);
      if (text === kept || Object.keys(now).length === 0) return;
      kept = text;
      await update(now);
    },
    setWanted(wishes) {
      wanted = wishes;
      if (wanted.pageTool) tool ??= createPageTool(mayTell);
      question.textContent = t(wanted.pageTool ? "asksPage" : "asksContext");
      const isAsked = wanted.pageTool || wanted.collectContext;
      element.hidden = !isAsked || storage.get(name()) !== null;
    },
    end: () => tool?.end(),
  };
}
