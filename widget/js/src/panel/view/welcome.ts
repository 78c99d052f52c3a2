import { el, icon } from "../../dom.js";
import { FLAME } from "../../icons.js";
import type { CopyLabels } from "../copy.js";
import { MarkdownView } from "../markdown.js";

export interface Welcome {
  element: HTMLElement;
  setGreeting(greeting: string): void;
}

export function createWelcome(labels: CopyLabels): Welcome {
  const greeting = new MarkdownView(labels);
  const mark = el("span", { class: "mark large", "aria-hidden": "true" }, icon(FLAME));
  const element = el("div", { class: "welcome", hidden: true }, mark, greeting.element);
  return {
    element,
    setGreeting(text) {
      element.hidden = text === "";
      greeting.update(text, false);
    },
  };
}
