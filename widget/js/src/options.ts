import type { WidgetOptions } from "./host.js";

/** When the widget comes forward by itself; each at most once per visit. */
export interface Triggers {
  afterS: number | null;
  /** A pattern of paths, with `*` for anything. */
  onPath: string;
  onExit: boolean;
  /** What it says then; without words the chat opens. */
  nudge: string;
}

export interface LoaderOptions extends WidgetOptions {
  hasLauncher: boolean;
  triggers: Triggers;
}

/**
 * Reads `data-key`, `data-position`, `data-theme`, `data-locale`, `data-z-index`,
 * `data-accent`, `data-launcher`, `data-open-after`, `data-open-on-path`,
 * `data-open-on-exit`, `data-nudge`. The panel reads `data-suggestions` and `data-ask-context`.
 */
export function readOptions(script: HTMLScriptElement): LoaderOptions | null {
  const given = script.dataset;
  const key = given["key"]?.trim();
  if (!key) return null;
  const theme = given["theme"];
  const afterS = Number.parseFloat(given["openAfter"] ?? "");
  return {
    key,
    server: new URL(script.src, location.href).origin,
    position: positionOf(given["position"]),
    theme: theme === "light" || theme === "dark" ? theme : "auto",
    locale: given["locale"] || document.documentElement.lang || navigator.language || "en",
    accent: given["accent"] ?? "",
    zIndex: /^\d{1,10}$/.test(given["zIndex"] ?? "") ? given["zIndex"]! : "",
    tag: given,
    hasLauncher: given["launcher"] !== "none",
    triggers: {
      afterS: afterS >= 0 ? afterS : null,
      onPath: given["openOnPath"] ?? "",
      onExit: given["openOnExit"] !== undefined,
      nudge: given["nudge"] ?? "",
    },
  };
}

/** Where a page is read from right to left, the launcher stands at its end: the left. */
function positionOf(given: string | undefined): "left" | "right" {
  if (given === "left" || given === "right") return given;
  return document.documentElement.dir === "rtl" ? "left" : "right";
}
