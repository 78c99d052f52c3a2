import { el, icon, type View } from "../../dom.js";
import { SEND, STOP } from "../../icons.js";

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
  const { labels } = options;
  const field = el("textarea", {
    class: "field",
    rows: "1",
    "aria-label": labels.field,
    placeholder: labels.placeholder,
    autocomplete: "off",
    enterkeyhint: "send",
  });
  field.value = options.draft;
  const stop = iconButton("stop", labels.stop, STOP);
  const send = iconButton("send", labels.send, SEND);
  const element = el("div", { class: "composer" }, field, stop, send);
  let isRunning = false;

  const render = (): void => {
    const isEmpty = field.value.trim() === "";
    stop.hidden = !isRunning;
    send.hidden = isRunning && isEmpty;
    send.disabled = isEmpty;
    fitHeight(field);
  };
  const setText = (text: string): void => {
    field.value = text;
    options.onDraft(text);
    render();
  };
  const submit = async (): Promise<void> => {
    const text = field.value.trim();
    if (text === "") return;
    setText("");
    field.focus();
    const isTaken = await options.onSend(text);
    if (!isTaken) setText(field.value === "" ? text : `${text}\n${field.value}`);
  };

  field.addEventListener("input", () => {
    options.onDraft(field.value);
    render();
  });
  field.addEventListener("keydown", (event) => {
    if (!isSubmitKey(event)) return;
    event.preventDefault();
    void submit();
  });
  send.addEventListener("click", () => void submit());
  stop.addEventListener("click", () => {
    options.onStop();
    field.focus();
  });
  element.addEventListener("click", (event) => {
    if (event.target === element) field.focus();
  });
  render();

  return {
    element,
    update(state) {
      if (state.isRunning === isRunning) return;
      isRunning = state.isRunning;
      render();
    },
    focus: () => field.focus({ preventScroll: true }),
    setPlaceholder: (text) => (field.placeholder = text),
    clear: () => setText(""),
  };
}

function isSubmitKey(event: KeyboardEvent): boolean {
  // Safari ends a composition before the Enter that confirms it; only key code 229
  // then tells that this Enter belongs to the input method.
  const isComposing = event.isComposing || event.keyCode === 229;
  return event.key === "Enter" && !event.shiftKey && !isComposing;
}

function iconButton(name: string, label: string, path: string): HTMLButtonElement {
  const button = el("button", { type: "button", class: name, "aria-label": label });
  button.append(icon(path));
  return button;
}

function fitHeight(field: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`;
}
