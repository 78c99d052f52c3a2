import { activeTurn, type ConversationState } from "@lantern/sdk";

/** Whether nothing is being written, and nobody is waited for. */
export function isQuiet(conversation: ConversationState): boolean {
  return activeTurn(conversation) === null && !awaitsPerson(conversation);
}

/** Whether a person answers, or was asked to: they write when they will. */
function awaitsPerson({ turns }: ConversationState): boolean {
  const last = turns.at(-1);
  if (last === undefined) return false;
  return last.operator !== null || last.toolCalls.some(({ name }) => name === "hand_over");
}
