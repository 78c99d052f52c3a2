import { el, icon, type View } from "../../dom.js";
import { WARNING } from "../../icons.js";

export interface NoticeState {
  text: string;
  actionLabel: string | null;
}

/** A sentence with at most one way out; hidden without a sentence. */
export function createNotice(onAction: () => void): View<NoticeState | null> {
  const text = el("span", { class: "notice-text", dir: "auto" });
  const action = el("button", { type: "button", class: "notice-action" });
  const element = el("div", { class: "notice", hidden: true }, icon(WARNING), text, action);
  action.addEventListener("click", onAction);
  return {
    element,
    update(state) {
      element.hidden = state === null;
      if (state === null) return;
      text.textContent = state.text;
      action.textContent = state.actionLabel ?? "";
      action.hidden = state.actionLabel === null;
    },
  };
}
