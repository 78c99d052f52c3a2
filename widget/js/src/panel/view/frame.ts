import { el } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { keepFocus } from "../a11y.js";

export interface FrameOptions {
  isInline: boolean;
  t: Translate;
  parts: readonly HTMLElement[];
  onEscape: () => void;
  /** What had the focus is not there any more. */
  onFocusLost: () => void;
}

/** The panel itself, hidden until it is shown. */
export function createFrame(options: FrameOptions): HTMLElement {
  const { isInline, t, parts, onEscape } = options;
  const element = el(
    "section",
    {
      class: isInline ? "panel inline" : "panel",
      part: "panel",
      role: isInline ? "region" : "dialog",
      "aria-labelledby": "lantern-title",
      lang: t.locale,
      dir: t.direction,
      tabindex: "-1",
      hidden: true,
    },
    ...parts,
  );
  element.addEventListener("keydown", (event) => {
    // Keys typed into the chat are not shortcuts of the page around it.
    event.stopPropagation();
    if (event.key === "Escape" && !event.isComposing) onEscape();
  });
  keepFocus(element, options.onFocusLost);
  return element;
}
