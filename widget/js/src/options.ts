import type { WidgetOptions } from "./host.js";

/**
 * Reads `data-key`, `data-position`, `data-theme`, `data-locale`, `data-z-index`,
 * `data-accent`.
 */
export function readOptions(script: HTMLScriptElement): WidgetOptions | null {
  const given = script.dataset;
  const key = given["key"]?.trim();
  if (!key) return null;
  const theme = given["theme"];
  return {
    key,
    server: new URL(script.src, location.href).origin,
    position: given["position"] === "left" ? "left" : "right",
    theme: theme === "light" || theme === "dark" ? theme : "auto",
    locale: given["locale"] || document.documentElement.lang || navigator.language || "en",
    accent: given["accent"] ?? "",
    zIndex: /^\d{1,10}$/.test(given["zIndex"] ?? "") ? given["zIndex"]! : "",
  };
}
