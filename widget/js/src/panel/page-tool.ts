import type { LanternTool } from "../host.js";

export interface PageTool {
  tool: LanternTool;
  end(): void;
}

const MAX_TITLE = 300;
const MAX_URL = 2_000;
const MAX_SELECTION = 4_000;

/** Without query and fragment: that is where sites put what is nobody's business. */
export function pageAddress(): string {
  return location.origin + location.pathname;
}

/** Lets the model see what page the visitor is on, and what they have selected there. */
export function createPageTool(mayTell: () => boolean): PageTool {
  let selection = "";
  const remember = (): void => {
    // Writing in the chat takes the selection away, and is not about the page.
    if (document.activeElement?.localName.startsWith("lantern-")) return;
    selection = String(document.getSelection() ?? "").trim();
  };
  remember();
  document.addEventListener("selectionchange", remember);
  return {
    end: () => document.removeEventListener("selectionchange", remember),
    tool: {
      name: "current_page",
      description:
        "The page that the visitor has before them: its title, its address, and the text " +
        "that they have selected on it, if any.",
      inputSchema: { type: "object", properties: {} },
      run() {
        if (!mayTell()) throw new Error("The visitor does not share the page.");
        return {
          title: document.title.slice(0, MAX_TITLE),
          url: pageAddress().slice(0, MAX_URL),
          selection: selection.slice(0, MAX_SELECTION),
        };
      },
    },
  };
}
