import { activeTurn } from "@lantern/sdk";
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
    if (ended?.phase === "completed" || ended?.phase === "cancelled") {
      announcer.say(t("replied", { name, text: ended.text }));
    } else if (ended?.phase === "failed") {
      announcer.alert(whyNoReply(ended, t));
    }
  }
  const { notice } = state;
  if (notice !== null && notice !== before.notice) announcer.alert(notice.text);
}
