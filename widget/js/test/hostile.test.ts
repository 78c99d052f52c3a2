import type { ToolCallView } from "@lantern/sdk";
import { expect, test } from "vitest";
import { translator } from "../src/i18n/index.js";
import { MarkdownView } from "../src/panel/markdown.js";
import { createToolList } from "../src/panel/view/tools.js";
import { PAYLOADS } from "./payloads.mjs";

const LABELS = { copy: "Copy", copied: "Copied" };
const TAGS = new Set(
  ("DIV P H3 H4 H5 H6 UL OL LI PRE CODE SPAN A EM STRONG DEL BR HR BLOCKQUOTE " +
    "TABLE THEAD TBODY TR TH TD BUTTON").split(" "),
);
const ATTRIBUTES = new Set("class tabindex start dir href target rel type".split(" "));
const SCHEMES = new Set(["http:", "https:", "mailto:", "tel:"]);

/** What stands there that may not, as words. */
function faults(root: Element): string[] {
  const found: string[] = [];
  for (const node of root.querySelectorAll("*")) {
    if (!TAGS.has(node.tagName)) found.push(node.tagName);
    found.push(...node.getAttributeNames().filter((name) => !ATTRIBUTES.has(name)));
    if (!(node instanceof HTMLAnchorElement)) continue;
    if (!SCHEMES.has(node.protocol)) found.push(node.href);
    if (node.rel !== "noopener noreferrer" || node.target !== "_blank") found.push("link");
  }
  return found;
}

test("there are more than 300 of them", () => {
  expect(PAYLOADS.length).toBeGreaterThan(300);
});

test("as the model's text: nothing active at any cut, growing and whole", { timeout: 120_000 }, () => {
  for (const text of PAYLOADS) {
    const growing = new MarkdownView(LABELS);
    for (let end = 1; end <= text.length; end += 1) {
      const prefix = text.slice(0, end);
      growing.update(prefix, true);
      const whole = new MarkdownView(LABELS);
      whole.update(prefix, false);
      expect([prefix, faults(growing.element), faults(whole.element)]).toEqual([prefix, [], []]);
    }
  }
});

test("as a tool's name and arguments: only text", () => {
  const t = translator("en");
  for (const text of PAYLOADS) {
    const view = createToolList({ t, onApprove: () => undefined });
    const call: ToolCallView = { callId: "c", name: text, state: "asking", arguments: { [text]: text } };
    view.update([call]);
    expect([text, faults(view.element)]).toEqual([text, []]);
    expect(view.element.textContent).toContain(text);
  }
});
