import type { WidgetConfig, WidgetOptions } from "./host.js";

/** When the widget comes forward by itself; each at most once per visit. */
export interface Triggers {
  /** Not a number where it is not wanted. */
  afterS: number;
  /** A pattern of paths, with `*` for anything. */
  onPath: string;
  onExit: boolean;
  /** What it says then; without words the chat opens. */
  nudge: string;
}

/** What the tag or the server's configuration may say. */
export interface Looks {
  position: "left" | "right";
  theme: "auto" | "light" | "dark";
  accent: string;
  radius: string;
  launcherLabel: string;
  triggers: Triggers;
}

export interface LoaderOptions extends WidgetOptions, Looks {
  hasLauncher: boolean;
}

/**
 * Reads `data-key`, `data-locale`, `data-z-index`, `data-launcher`, and the looks. The
 * panel reads `data-suggestions` and `data-ask-context`, the widget `data-user-id` and
 * `data-user-hash`.
 */
export function readOptions(script: HTMLScriptElement): LoaderOptions | null {
  const tag = script.dataset;
  const key = tag["key"]?.trim();
  if (!key) return null;
  return {
    key,
    server: new URL(script.src, location.href).origin,
    locale: tag["locale"] || document.documentElement.lang || navigator.language || "en",
    zIndex: digits(tag["zIndex"]),
    tag,
    hasLauncher: tag["launcher"] !== "none",
    ...readLooks(tag),
  };
}

/** The tag's attributes and the configuration have the same names; the tag goes first. */
export function readLooks(tag: WidgetOptions["tag"], config: WidgetConfig = {}): Looks {
  // Without a prototype: a page may have put names into that of all objects.
  const given: Record<string, unknown> = { __proto__: null, ...config, ...tag };
  const text = (name: string): string => String(given[name] ?? "");
  const theme = text("theme");
  return {
    position: positionOf(text("position")),
    theme: theme === "light" || theme === "dark" ? theme : "auto",
    accent: text("accent"),
    radius: digits(given["radius"]),
    launcherLabel: text("launcherLabel"),
    triggers: {
      afterS: parseFloat(text("openAfter")),
      onPath: text("openOnPath"),
      onExit: String(given["openOnExit"] ?? false) !== "false",
      nudge: text("nudge"),
    },
  };
}

function digits(given: unknown): string {
  const text = String(given);
  return /^\d{1,10}$/.test(text) ? text : "";
}

/** Where a page is read from right to left, the launcher stands at its end: the left. */
function positionOf(given: string): "left" | "right" {
  if (given === "left" || given === "right") return given;
  return document.documentElement.dir === "rtl" ? "left" : "right";
}
