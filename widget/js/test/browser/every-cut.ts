/** Runs in a page: each text, at every cut, wherever the chat shows somebody's text. */
import { EMPTY_CONVERSATION, mergeTranscript, type ConversationState } from "@lantern/sdk";
import { translator } from "../../src/i18n/index.js";
import { INITIAL_CHAT } from "../../src/panel/store.js";
import { createThread } from "../../src/panel/view/thread.js";

const t = translator("en");

function standIn(text: string, isWriting: boolean): ConversationState {
  const common = { turnId: "t", createdAt: "" };
  const file = { id: "f", name: text, mediaType: "text/plain", size: 1 };
  const { turns } = mergeTranscript(EMPTY_CONVERSATION, [
    { ...common, id: "q", role: "user", content: text, attachments: [file] },
    { ...common, id: "a", role: "assistant", content: text },
  ]);
  const call = { callId: "c", name: text, state: "asking", arguments: { [text]: text } } as const;
  const phase = isWriting ? "running" : "completed";
  const shown = turns.map((turn) => ({ ...turn, phase, toolCalls: [call] }) as const);
  return { ...EMPTY_CONVERSATION, turns: shown };
}

function newThread(parent: ParentNode) {
  const thread = createThread({
    t,
    userName: "You",
    agentName: () => "Agent",
    welcome: null,
    loadFile: () => Promise.reject(new Error("none")),
    onFileLost: () => undefined,
    onRetry: () => undefined,
    onRate: async () => true,
    onApprove: () => undefined,
  });
  parent.append(thread.element);
  return thread;
}

/** As it is being written, or each time anew as from the transcript. Gives the number of cuts. */
export function showEveryCut(
  payloads: readonly string[],
  parent: ParentNode,
  isWriting: boolean,
): number {
  let count = 0;
  for (const text of payloads) {
    let thread = newThread(parent);
    for (let end = 1; end <= text.length; end += 1) {
      thread.update({ ...INITIAL_CHAT, conversation: standIn(text.slice(0, end), isWriting) });
      count += 1;
      if (isWriting && end < text.length) continue;
      thread.element.remove();
      thread = newThread(parent);
    }
    thread.element.remove();
  }
  return count;
}
