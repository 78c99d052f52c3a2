import { el, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { SEND, STOP } from "../../icons.js";
import { iconButton } from "../button.js";
import type { PickedFile } from "../files.js";
import { createFilePicker, type FilePicker } from "./file-picker.js";

export interface ComposerState {
  isRunning: boolean;
}

export interface ComposerOptions {
  t: Translate;
  labels: { field: string; placeholder: string };
  draft: string;
  onDraft: (text: string) => void;
  /** Resolves to whether the message was taken; if not, all of it comes back. */
  onSend: (text: string, files: readonly PickedFile[]) => Promise<boolean>;
  onStop: () => void;
  /** A sentence about a file that cannot be sent. */
  onRefused: (sentence: string) => void;
}

export interface ComposerView extends View<ComposerState> {
  focus(): void;
  setPlaceholder(text: string): void;
  /** Whether files may go with a message. */
  setFiles(areWanted: boolean): void;
  clear(): void;
}

const MAX_HEIGHT_PX = 160;

export function createComposer(options: ComposerOptions): ComposerView {
  return new Composer(options);
}

class Composer implements ComposerView {
  readonly element: HTMLElement;
  readonly #options: ComposerOptions;
  readonly #field: HTMLTextAreaElement;
  readonly #stop: HTMLButtonElement;
  readonly #send: HTMLButtonElement;
  readonly #files: FilePicker;
  #isRunning = false;

  constructor(options: ComposerOptions) {
    const { t, labels, onRefused } = options;
    this.#options = options;
    this.#field = el("textarea", {
      class: "field",
      rows: "1",
      "aria-label": labels.field,
      placeholder: labels.placeholder,
      autocomplete: "off",
      enterkeyhint: "send",
      dir: "auto",
    });
    this.#field.value = options.draft;
    this.#stop = iconButton("stop", t("stop"), STOP, () => {
      this.#options.onStop();
      this.focus();
    });
    this.#send = iconButton("send", t("send"), SEND, () => void this.#submit());
    this.#files = createFilePicker({ t, onRefused, onChange: () => this.#render() });
    this.element = el(
      "div",
      { class: "composer", part: "composer" },
      this.#files.chips,
      this.#files.button,
      this.#field,
      this.#stop,
      this.#send,
    );
    this.#listen();
    this.#render();
  }

  update({ isRunning }: ComposerState): void {
    if (isRunning === this.#isRunning) return;
    this.#isRunning = isRunning;
    this.#render();
  }

  focus(): void {
    this.#field.focus({ preventScroll: true });
  }

  setPlaceholder(text: string): void {
    this.#field.placeholder = text;
  }

  setFiles(areWanted: boolean): void {
    this.#files.setWanted(areWanted);
  }

  clear(): void {
    this.#files.take();
    this.#setText("");
  }

  #listen(): void {
    this.#files.listenTo(this.element);
    this.#field.addEventListener("input", () => {
      this.#options.onDraft(this.#field.value);
      this.#render();
    });
    this.#field.addEventListener("keydown", (event) => {
      if (!isSubmitKey(event)) return;
      event.preventDefault();
      void this.#submit();
    });
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.focus();
    });
  }

  async #submit(): Promise<void> {
    const text = this.#field.value.trim();
    if (text === "" && this.#files.isEmpty) return;
    const files = this.#files.take();
    this.#setText("");
    this.focus();
    if (await this.#options.onSend(text, files)) return;
    this.#files.restore(files);
    const since = this.#field.value;
    this.#setText(since === "" ? text : `${text}\n${since}`);
  }

  #setText(text: string): void {
    this.#field.value = text;
    this.#options.onDraft(text);
    this.#render();
  }

  #render(): void {
    const isEmpty = this.#field.value.trim() === "" && this.#files.isEmpty;
    this.#stop.hidden = !this.#isRunning;
    this.#send.hidden = this.#isRunning && isEmpty;
    this.#send.disabled = isEmpty;
    fitHeight(this.#field);
  }
}

function isSubmitKey(event: KeyboardEvent): boolean {
  // Safari ends a composition before the Enter that confirms it; only key code 229
  // then tells that this Enter belongs to the input method.
  const isComposing = event.isComposing || event.keyCode === 229;
  return event.key === "Enter" && !event.shiftKey && !isComposing;
}

function fitHeight(field: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`;
}
