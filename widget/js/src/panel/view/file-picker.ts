import { el, icon } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { CLIP, CLOSE } from "../../icons.js";
import { iconButton } from "../button.js";
import { isPicture, MAX_FILES, readFile, type PickedFile } from "../files.js";
import { thumbnailOf } from "../thumbnail.js";

export interface FilePickerOptions {
  t: Translate;
  /** A sentence about a file that cannot be sent. */
  onRefused: (sentence: string) => void;
  onChange: () => void;
}

export interface FilePicker {
  /** The files that will go with the next message. */
  chips: HTMLElement;
  button: HTMLElement;
  readonly isEmpty: boolean;
  setWanted(isWanted: boolean): void;
  /** The files, which leave the picker. */
  take(): PickedFile[];
  restore(files: readonly PickedFile[]): void;
  /** Takes what is pasted or dropped there. */
  listenTo(element: HTMLElement): void;
}

export function createFilePicker({ t, onRefused, onChange }: FilePickerOptions): FilePicker {
  let files: PickedFile[] = [];
  let isWanted = false;
  const input = el("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  const button = iconButton("attach", t("attach"), CLIP, () => input.click());
  const chips = el("ul", { class: "files", hidden: true });
  const attaching = el("span", { class: "attaching", hidden: true }, input, button);

  const render = (): void => {
    chips.hidden = files.length === 0;
    chips.replaceChildren(...files.map((file) => chip(file)));
    onChange();
  };
  const chip = (file: PickedFile): HTMLElement => {
    const remove = iconButton("plain", t("removeFile", { name: file.name }), CLOSE, () => {
      files = files.filter((each) => each !== file);
      render();
    });
    const sign = icon(CLIP);
    const drawn = isPicture(file) ? thumbnailOf(file.content) : null;
    drawn?.then((picture) => sign.replaceWith(picture)).catch(() => undefined);
    return el("li", { class: "file" }, sign, el("bdi", {}, file.name), remove);
  };
  const add = async (added: readonly File[]): Promise<void> => {
    for (const file of added) {
      try {
        if (files.length >= MAX_FILES) {
          throw new Error(t("tooManyFiles", { count: String(MAX_FILES) }));
        }
        files.push(await readFile(file, t));
      } catch (error) {
        onRefused(error instanceof Error ? error.message : t("genericError"));
      }
    }
    render();
  };
  input.addEventListener("change", () => {
    void add([...(input.files ?? [])]);
    input.value = ""; // the same file may be chosen again
  });
  const takeFrom = (event: Event, transfer: DataTransfer | null): void => {
    const given = [...(transfer?.files ?? [])];
    if (!isWanted || given.length === 0) return;
    event.preventDefault();
    void add(given);
  };
  return {
    chips,
    button: attaching,
    get isEmpty() {
      return files.length === 0;
    },
    setWanted(wanted) {
      isWanted = wanted;
      attaching.hidden = !wanted;
    },
    take() {
      const taken = files;
      files = [];
      render();
      return taken;
    },
    restore(taken) {
      files = [...taken, ...files].slice(0, MAX_FILES);
      render();
    },
    listenTo(element) {
      element.addEventListener("paste", (event) => takeFrom(event, event.clipboardData));
      element.addEventListener("drop", (event) => takeFrom(event, event.dataTransfer));
      // Without this the browser would leave the page for the file.
      element.addEventListener("dragover", (event) => isWanted && event.preventDefault());
    },
  };
}
