import { el, type View } from "../../dom.js";
import { SEND, STOP } from "../../icons.js";
import { iconButton } from "../button.js";

export interface ComposerState {
  isRunning: boolean;
}

export interface ComposerOptions {
  labels: { field: string; placeholder: string; send: string; stop: string };
  draft: string;
  onDraft: (text: string) => void;
  /** Resolves to whether the message was taken; if not, its text comes back. */
  onSend: (text: string) => Promise<boolean>;
  onStop: () => void;
}

export interface ComposerView extends View<ComposerState> {
  focus(): void;
  setPlaceholder(text: string): void;
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
  #isRunning = false;

  constructor(options: ComposerOptions) {
    const { labels } = options;
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
    this.#stop = iconButton("stop", labels.stop, STOP, () => {
      this.#options.onStop();
      this.focus();
    });
    this.#send = iconButton("send", labels.send, SEND, () => void this.#submit());
    this.element = el(
      "div",
      { class: "composer", part: "composer" },
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

  clear(): void {
    this.#setText("");
  }

  #listen(): void {
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
    if (text === "") return;
    this.clear();
    this.focus();
    if (await this.#options.onSend(text)) return;
    const since = this.#field.value;
    this.#setText(since === "" ? text : `${text}\n${since}`);
  }

  #setText(text: string): void {
    this.#field.value = text;
    this.#options.onDraft(text);
    this.#render();
  }

  #render(): void {
    const isEmpty = this.#field.value.trim() === "";
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
