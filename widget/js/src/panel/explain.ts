import { ApiError, ConnectionError, LanternError, type FileView, type TurnView } from "@lantern/sdk";
import type { Catalog, Translate } from "../i18n/index.js";
import { isPicture } from "./files.js";
import type { Notice } from "./store.js";

const SENTENCES: Readonly<Record<string, keyof Catalog>> = {
  budget_exceeded: "budgetExceeded",
  rate_limited: "rateLimited",
  queue_full: "queueFull",
  session_busy: "sessionBusy",
  session_closed: "sessionClosed",
  payload_too_large: "tooLarge",
  forbidden_origin: "forbiddenOrigin",
  identity_required: "identityRequired",
  connection_lost: "unreachable",
};

const STATUS_SENTENCES: Readonly<Record<number, keyof Catalog>> = {
  402: "budgetExceeded",
  413: "tooLarge",
  429: "rateLimited",
};

/** A sentence for the person in front of the screen. */
export function explain(error: unknown, t: Translate): string {
  if (error instanceof ConnectionError) return t("unreachable");
  if (!(error instanceof LanternError)) return t("genericError");
  const known = Object.hasOwn(SENTENCES, error.code)
    ? SENTENCES[error.code]
    : error instanceof ApiError
      ? STATUS_SENTENCES[error.status]
      : undefined;
  return t(known ?? "genericError");
}

/** Why a message was not taken, where one of its files may be the reason. */
export function explainSent(error: unknown, files: readonly FileView[], t: Translate): string {
  const param = error instanceof ApiError && error.status === 413 ? error.details["param"] : "";
  const file = files[Number(/^attachments\.(\d+)/.exec(String(param))?.[1])];
  if (file === undefined) return explain(error, t);
  // Its bytes were counted when it was picked.
  return t(isPicture(file) ? "tooManyPixels" : "fileTooLarge", { name: file.name });
}

/** Whether the server will not have this page, however often it asks. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 403 || error.status === 404);
}

/** Why the chat cannot begin. */
export function explainArrival(error: unknown, t: Translate): string {
  const isForAll = isRefusal(error) && (error as ApiError).code !== "identity_required";
  return isForAll ? t("forbiddenOrigin") : explain(error, t);
}

/** In the browser's console: the visitor's sentence does not say what the site has to do. */
export function tellOwner(error: unknown, key: string): void {
  console.warn(`Lantern: ${(error as Error).message} (${key}, ${location.origin})`);
}

/** What can be done about it. */
export function actionLabel({ action }: Notice, t: Translate): string | null {
  if (action === null) return null;
  return t(action === "reconnect" ? "reconnect" : "tryAgain");
}

/** Why a turn has no reply; the provider's own words are the operator's concern. */
function explainFailure(code: string, hadDeltas: boolean, t: Translate): string {
  const known = Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
  return t(known ?? (hadDeltas ? "replyFailed" : "turnFailed"));
}

/** One sentence: the canned reply says the same in the words of the site's owner. */
export function whyNoReply({ failure, text, nextSeq }: TurnView, t: Translate): string {
  if (failure === null) return t("noReply");
  return text || explainFailure(failure.code, nextSeq > 1, t);
}
