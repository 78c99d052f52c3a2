import { el } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";

export interface FrameOptions {
  isInline: boolean;
  t: Translate;
  parts: readonly HTMLElement[];
  onEscape: () => void;
}

/** The panel itself, hidden until it is shown. */
export function createFrame({ isInline, t, parts, onEscape }: FrameOptions): HTMLElement {
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
  return element;
}
