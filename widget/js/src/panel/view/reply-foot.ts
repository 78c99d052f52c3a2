import { isActive, type TurnView } from "@lantern/sdk";
import { el, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { AGAIN, THUMB_DOWN, THUMB_UP } from "../../icons.js";
import { iconButton, textButton } from "../button.js";
import { copyButton } from "../copy.js";

export interface ReplyFootState {
  turn: TurnView;
  isLast: boolean;
}

export interface ReplyFootOptions {
  t: Translate;
  onRetry: () => void;
  /** `null` where nobody's opinion is asked. */
  onRate: ((turnId: string, rating: Rating, comment: string) => Promise<boolean>) | null;
}

export type Rating = "up" | "down";

/** What can be done with a reply once it is there. */
export function createReplyFoot(options: ReplyFootOptions): View<ReplyFootState> {
  const { t } = options;
  let shown: TurnView | null = null;
  const copy = copyButton({ copy: t("copy"), copied: t("copied") }, () => shown?.text ?? "");
  const again = iconButton("copy", t("regenerate"), AGAIN, options.onRetry);
  const rating = createRating(options, () => shown?.turnId ?? null);
  const remark = el("span", { class: "remark" });
  const tools = el("div", { class: "reply-tools" }, remark);
  if (copy !== null) tools.append(copy);
  tools.append(again, ...rating.buttons);
  const element = el("div", { class: "reply-foot" }, tools, rating.form);
  return {
    element,
    update({ turn, isLast }) {
      shown = turn;
      const isReply = turn.text !== "" && turn.phase !== "failed";
      remark.textContent = remarkOn(turn, t);
      element.hidden = isActive(turn) || (!isReply && remark.textContent === "");
      if (copy !== null) copy.hidden = !isReply;
      const isAgents = turn.operator === null;
      again.hidden = !isLast || !isAgents;
      for (const button of rating.buttons) button.hidden = !isReply || !isAgents;
    },
  };
}

function remarkOn(turn: TurnView, t: Translate): string {
  if (turn.phase === "cancelled") return t("stopped");
  if (turn.stopReason === "handed_over") return t("handedOver", { name: turn.operator ?? "" });
  return turn.stopReason === "length" ? t("cutShort") : "";
}

function createRating({ t, onRate }: ReplyFootOptions, turnId: () => string | null) {
  const field = el("textarea", { class: "comment", rows: "2", "aria-label": t("comment") });
  field.placeholder = t("comment");
  field.maxLength = 2000;
  const thanks = el("span", { class: "thanks", role: "status" });
  const submit = textButton("notice-action", t("submit"), () => void rate(field.value.trim()));
  const form = el("div", { class: "rating", hidden: true }, field, submit, thanks);
  let chosen: Rating = "up";
  const choose = (rating: Rating): void => {
    chosen = rating;
    up.setAttribute("aria-pressed", String(rating === "up"));
    down.setAttribute("aria-pressed", String(rating === "down"));
    form.hidden = field.hidden = submit.hidden = false;
    thanks.textContent = "";
    void rate("").then(() => rating === "down" && field.focus());
  };
  const rate = async (comment: string): Promise<void> => {
    const id = turnId();
    if (id === null || onRate === null || !(await onRate(id, chosen, comment))) return;
    if (comment === "" && !field.hidden && field.value === "") return;
    field.hidden = submit.hidden = true;
    thanks.textContent = t("thanks");
  };
  const up = iconButton("copy", t("good"), THUMB_UP, () => choose("up"));
  const down = iconButton("copy", t("bad"), THUMB_DOWN, () => choose("down"));
  for (const button of [up, down]) button.setAttribute("aria-pressed", "false");
  return { form, buttons: onRate === null ? [] : [up, down] };
}
