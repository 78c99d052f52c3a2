import type { ConversationState } from "@lantern/sdk";
import { el } from "../dom.js";

/** The conversation as plain text, as a reader would copy it. */
export function transcriptOf(
  { turns }: ConversationState,
  names: { user: string; agent: string },
): string {
  const parts: string[] = [];
  turns.forEach((turn, index) => {
    if (turn.userText !== null) {
      const files = turn.files.map(({ name }) => `[${name}]`);
      parts.push([`${names.user}:`, ...files, turn.userText].join("\n").trimEnd());
    }
    const isReplaced = turns[index + 1]?.isAgain === true;
    if (turn.text !== "" && !isReplaced) {
      parts.push(`${turn.operator ?? names.agent}:\n${turn.text}`);
    }
  });
  return `${parts.join("\n\n")}\n`;
}

export function download(fileName: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = el("a", { href: address, download: fileName });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
