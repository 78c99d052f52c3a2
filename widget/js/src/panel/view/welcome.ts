import { el } from "../../dom.js";
import { textButton } from "../button.js";
import type { CopyLabels } from "../copy.js";
import { MarkdownView } from "../markdown.js";

export interface Welcome {
  element: HTMLElement;
  setGreeting(greeting: string): void;
  setSuggestions(suggestions: readonly string[]): void;
  /** Suggestions are for the beginning only. */
  update(hasTurns: boolean): void;
}

const MAX_SUGGESTIONS = 6;

export function createWelcome(
  labels: CopyLabels & { suggestions: string },
  onPick: (text: string) => void,
): Welcome {
  const greeting = new MarkdownView(labels);
  greeting.element.dir = "auto";
  const prompts = el("div", { class: "prompts", role: "group", "aria-label": labels.suggestions });
  const element = el("div", { class: "welcome", hidden: true }, greeting.element, prompts);
  prompts.hidden = true;
  return {
    element,
    setGreeting(text) {
      element.hidden = text === "";
      greeting.update(text, false);
    },
    setSuggestions(suggestions) {
      const buttons = suggestions
        .slice(0, MAX_SUGGESTIONS)
        .map((text) => textButton("prompt", text, () => onPick(text)));
      for (const button of buttons) button.dir = "auto";
      prompts.replaceChildren(...buttons);
      if (buttons.length > 0) element.hidden = false;
    },
    update(hasTurns) {
      prompts.hidden = hasTurns || prompts.childElementCount === 0;
    },
  };
}
