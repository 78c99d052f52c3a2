import type { WidgetConfig } from "../host.js";

export const KEY = "pk_preview";
export const READY = "lantern-preview-ready";

export type PreviewView = "launcher" | "greeting" | "conversation";

/** What the form tells the preview. */
export interface PreviewMessage {
  view: PreviewView;
  config: WidgetConfig;
}

export function isPreviewMessage(given: unknown): given is PreviewMessage {
  return typeof given === "object" && given !== null && "view" in given && "config" in given;
}
