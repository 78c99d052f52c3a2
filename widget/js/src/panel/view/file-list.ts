import type { FileView } from "@lantern/sdk";
import { el, icon, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { CLIP } from "../../icons.js";
import { isPicture } from "../files.js";
import { thumbnailOf, whenSeen } from "../thumbnail.js";
import { download } from "../transcript.js";

export interface FileListOptions {
  t: Translate;
  loadFile: (file: FileView) => Promise<Blob>;
  /** A file could not be saved. */
  onFileLost: (error: unknown) => void;
}

/** The files of a message: a button each that saves it, pictures with a thumbnail. */
export function createFileList(options: FileListOptions): View<readonly FileView[]> {
  const element = el("ul", { class: "files" });
  let shown: readonly FileView[] = [];
  let tiles: View<FileView>[] = [];
  return {
    element,
    update(files) {
      element.hidden = files.length === 0;
      if (files === shown) return;
      if (areSame(files, shown)) {
        files.forEach((file, at) => tiles[at]!.update(file));
      } else {
        tiles = files.map((file) => createTile(file, options));
        element.replaceChildren(...tiles.map((tile) => tile.element));
      }
      shown = files;
    },
  };
}

/** What was sent from here comes back with an id: what is on screen may stay. */
function areSame(files: readonly FileView[], before: readonly FileView[]): boolean {
  const look = ({ name, mediaType }: FileView): string => JSON.stringify([name, mediaType]);
  return files.map(look).join() === before.map(look).join();
}

function createTile(first: FileView, options: FileListOptions): View<FileView> {
  const { t, loadFile, onFileLost } = options;
  let file = first;
  const sign = el("span", { class: "place" }, icon(CLIP));
  const label = t("downloadFile", { name: file.name });
  const button = el(
    "button",
    { type: "button", class: "saved", "aria-label": label, title: label },
    sign,
    el("bdi", {}, file.name),
  );
  const element = el("li", { class: isPicture(file) ? "file picture" : "file" }, button);
  button.addEventListener("click", () => {
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    loadFile(file)
      // Whatever it is: as bytes it cannot be opened within the page's own origin.
      .then((content) => download(file.name, content.slice(0, content.size, BYTES)))
      .catch(onFileLost)
      .finally(() => (button.ariaBusy = "false"));
  });
  if (isPicture(file)) {
    whenSeen(button, () => {
      const drawn = loadFile(file).then(thumbnailOf);
      drawn.then(
        (picture) => sign.replaceWith(picture),
        () => element.classList.remove("picture"),
      );
    });
  }
  return { element, update: (next) => void (file = next) };
}

const BYTES = "application/octet-stream";
