import type { NewFile } from "@lantern/sdk";
import type { Translate } from "../i18n/index.js";

export const MAX_FILES = 4;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_TEXT_BYTES = 256 * 1024;
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

/** A file as it is sent; throws a sentence for the visitor if the server would not take it. */
export async function readFile(file: File, t: Translate): Promise<NewFile> {
  const { name } = file;
  const isImage = IMAGE.test(file.type);
  if (file.size > (isImage ? MAX_IMAGE_BYTES : MAX_TEXT_BYTES)) {
    throw new Error(t("fileTooLarge", { name }));
  }
  if (file.size === 0 || !(isImage || (await isText(file)))) {
    throw new Error(t("fileRefused", { name }));
  }
  return { name, mediaType: file.type || "text/plain", data: await asBase64(file) };
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
