import type { FileView, NewFile } from "@lantern/sdk";
import type { Translate } from "../i18n/index.js";
import type { SessionAccess } from "./access.js";

export const MAX_FILES = 4;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_TEXT_BYTES = 256 * 1024;
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

/** A file as it is sent, and as it can be shown. */
export interface PickedFile extends NewFile {
  content: Blob;
}

/** Throws a sentence for the visitor if the server would not take the file. */
export async function readFile(file: File, t: Translate): Promise<PickedFile> {
  const { name } = file;
  const isImage = isPicture({ mediaType: file.type });
  if (file.size > (isImage ? MAX_IMAGE_BYTES : MAX_TEXT_BYTES)) {
    throw new Error(t("fileTooLarge", { name }));
  }
  if (file.size === 0 || !(isImage || (await isText(file)))) {
    throw new Error(t("fileRefused", { name }));
  }
  const data = await asBase64(file);
  return { name, mediaType: file.type || "text/plain", data, content: file };
}

/** What goes to the server of each, and what stays on screen. */
export function partsOf(files: readonly PickedFile[]): { sent: NewFile[]; shown: FileView[] } {
  return {
    sent: files.map(({ name, mediaType, data }) => ({ name, mediaType, data })),
    shown: files.map(({ name, mediaType, content }) => ({ name, mediaType, content, id: null })),
  };
}

export function isPicture({ mediaType }: Pick<FileView, "mediaType">): boolean {
  return IMAGE.test(mediaType);
}

/** Gives the bytes of a file of the current conversation. */
export function fileLoader(access: SessionAccess): (file: FileView) => Promise<Blob> {
  return async ({ id, content }) =>
    content ?? access.client.sessions.attachment(access.current() ?? "", id ?? "");
}

async function isText(file: File): Promise<boolean> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return !text.includes("\0");
  } catch {
    return false;
  }
}

function asBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
