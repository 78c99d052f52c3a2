import type { ToolCallView } from "@lantern/sdk";
import { el, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { textButton } from "../button.js";

const SENTENCES = {
  running: "usingTool",
  requested: "usingTool",
  asking: "asksTool",
  completed: "usedTool",
  failed: "toolFailed",
} as const;

export interface ToolListOptions {
  t: Translate;
  onApprove: (callId: string, isAllowed: boolean) => void;
}

/** The tools of a turn, and a question for each that needs a yes. */
export function createToolList(options: ToolListOptions): View<readonly ToolCallView[]> {
  const element = el("ul", { class: "tools" });
  let shown: readonly ToolCallView[] = [];
  return {
    element,
    update(calls) {
      element.hidden = calls.length === 0;
      calls.forEach((call, index) => {
        if (shown[index] === call) return;
        const item = renderCall(call, options);
        const before = element.children[index];
        if (before === undefined) element.append(item);
        else before.replaceWith(item);
      });
      while (element.children.length > calls.length) element.lastElementChild!.remove();
      shown = calls;
    },
  };
}

function renderCall(call: ToolCallView, { t, onApprove }: ToolListOptions): HTMLElement {
  const sentence = t(SENTENCES[call.state], { name: call.name });
  const item = el("li", { class: call.state }, el("span", { dir: "auto" }, sentence));
  if (call.state !== "asking") return item;
  let isAnswered = false;
  const answer = (isAllowed: boolean): void => {
    if (isAnswered) return;
    // Not disabled: that would take the focus away before there is a place for it.
    isAnswered = true;
    onApprove(call.callId, isAllowed);
  };
  item.append(
    el("pre", { tabindex: "0", dir: "ltr" }, JSON.stringify(call.arguments ?? {}, null, 2)),
    el(
      "div",
      { class: "choices" },
      textButton("notice-action", t("allow"), () => answer(true)),
      textButton("notice-action", t("decline"), () => answer(false)),
    ),
  );
  return item;
}
