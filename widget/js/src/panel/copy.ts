import { el, icon } from "../dom.js";
import { CHECK, COPY } from "../icons.js";

export interface CopyLabels {
  copy: string;
  copied: string;
}

const COPIED_MS = 1600;

/** `null` where the page may not use the clipboard. */
export function copyButton(labels: CopyLabels, text: () => string): HTMLButtonElement | null {
  const { clipboard } = navigator;
  if (!clipboard) return null;
  const button = el("button", { type: "button", class: "copy", "aria-label": labels.copy });
  button.append(icon(COPY));
  button.addEventListener("click", () => {
    clipboard.writeText(text()).then(
      () => {
        button.replaceChildren(icon(CHECK));
        button.setAttribute("aria-label", labels.copied);
        setTimeout(() => {
          button.replaceChildren(icon(COPY));
          button.setAttribute("aria-label", labels.copy);
        }, COPIED_MS);
      },
      () => undefined,
    );
  });
  return button;
}
