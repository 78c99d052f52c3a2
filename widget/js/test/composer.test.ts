import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { translator } from "../src/i18n/index.js";
import { createComposer, type ComposerView } from "../src/panel/view/composer.js";

beforeAll(() => {
  vi.stubGlobal("CSS", { supports: () => true });
});

const LABELS = { field: "Message", placeholder: "" };
const onSend = vi.fn(async (_text: string, _files: readonly unknown[]) => true);
const onStop = vi.fn();
let drafts: string[] = [];
let composer: ComposerView;

function part<T extends HTMLElement>(selector: string): T {
  return composer.element.querySelector<T>(selector)!;
}
const field = (): HTMLTextAreaElement => part("textarea");

function type(text: string): void {
  field().value = text;
  field().dispatchEvent(new Event("input"));
}

function press(init: KeyboardEventInit): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key: "Enter", cancelable: true, ...init });
  field().dispatchEvent(event);
  return event;
}

beforeEach(() => {
  vi.clearAllMocks();
  onSend.mockResolvedValue(true);
  drafts = [];
  composer = createComposer({
    t: translator("en"),
    labels: LABELS,
    onRefused: vi.fn(),
    draft: "",
    onDraft: (text) => drafts.push(text),
    onSend,
    onStop,
  });
  document.body.replaceChildren(composer.element);
});

test("Enter sends once and clears the field", () => {
  type(" Hi ");
  press({ keyCode: 13 });
  press({ keyCode: 13 });
  expect(onSend.mock.calls).toEqual([["Hi", []]]);
  expect(field().value).toBe("");
  expect(drafts.at(-1)).toBe("");
});

test.each([
  ["while composing", { isComposing: true, keyCode: 229 }],
  ["after Safari has ended the composition", { isComposing: false, keyCode: 229 }],
  ["with Shift", { shiftKey: true, keyCode: 13 }],
])("Enter %s sends nothing and keeps the draft", (_name, init) => {
  type("こんにちは");
  const event = press(init);
  expect(onSend).not.toHaveBeenCalled();
  expect(event.defaultPrevented).toBe(false);
  expect(field().value).toBe("こんにちは");
});

test("a text that was not taken comes back, before what was typed since", async () => {
  onSend.mockResolvedValue(false);
  type("first");
  press({ keyCode: 13 });
  type("second");
  await vi.waitFor(() => expect(field().value).toBe("first\nsecond"));
});

test("blank text is not sent", () => {
  type("  \n ");
  press({ keyCode: 13 });
  expect(onSend).not.toHaveBeenCalled();
  expect(part<HTMLButtonElement>(".send").disabled).toBe(true);
});

test("Stop stands while a reply is written, Send returns with a text", () => {
  composer.update({ isRunning: true });
  expect(part(".stop").hidden).toBe(false);
  expect(part(".send").hidden).toBe(true);
  type("next");
  expect(part(".send").hidden).toBe(false);
  part(".stop").click();
  expect(onStop).toHaveBeenCalledOnce();
});
