import { activeTurn, type TurnView } from "@lantern/sdk";
import type { Translate } from "../i18n/index.js";
import type { Announcer } from "./a11y.js";
import { whyNoReply } from "./explain.js";
import type { ChatState } from "./store.js";

/** Tells a screen reader what changed: that a reply is being written, and the whole reply. */
export function narrate(
  state: ChatState,
  before: ChatState,
  announcer: Announcer,
  t: Translate,
  name: string,
): void {
  const writing = activeTurn(state.conversation);
  const wrote = activeTurn(before.conversation);
  if (writing !== null && writing.key !== wrote?.key) announcer.say(t("working", { name }));
  if (wrote !== null) {
    const ended = state.conversation.turns.find(({ key }) => key === wrote.key);
    if (ended?.stopReason === "handed_over") {
      announcer.say(t("handedOver", { name: ended.operator ?? "" }));
    } else if (ended?.phase === "completed" || ended?.phase === "cancelled") {
      announcer.say(t("replied", { name: ended.operator ?? name, text: spoken(ended.text) }));
    } else if (ended?.phase === "failed") {
      announcer.alert(whyNoReply(ended, t));
    }
  }
  for (const { operator, text } of cameWhole(state, before)) {
    announcer.say(t("replied", { name: operator ?? name, text: spoken(text) }));
  }
  for (const call of writing?.toolCalls ?? []) {
    const isNew = !wrote?.toolCalls.some((each) => each === call);
    if (call.state === "asking" && isNew) announcer.alert(t("asksTool", { name: call.name }));
  }
  const { notice } = state;
  if (notice !== null && notice !== before.notice) announcer.alert(notice.text);
}

/** What people wrote elsewhere: it comes at once, and nobody is seen to write it. */
function cameWhole(state: ChatState, before: ChatState): TurnView[] {
  const { turns } = before.conversation;
  if (before.isLoading || turns.length === 0) return [];
  const known = new Set(turns.map(({ key }) => key));
  return state.conversation.turns.filter(
    ({ key, operator, text, phase }) =>
      operator !== null && text !== "" && phase === "completed" && !known.has(key),
  );
}

/** Longer than this a reply is better read by its headings and paragraphs than in one go. */
const MAX_SPOKEN = 1500;

/** Marks that mean nothing when read out are left out. */
function spoken(text: string): string {
  const words = text
    .replace(/^\s*(```|~~~).*$/gm, "")
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__|~~|`/g, "");
  return words.length > MAX_SPOKEN ? `${words.slice(0, MAX_SPOKEN)}…` : words;
}
