import { el, icon } from "../dom.js";

/** A button that shows an icon and says its name. */
export function iconButton(
  className: string,
  label: string,
  path: string,
  onClick: () => void,
): HTMLButtonElement {
  const button = el("button", {
    type: "button",
    class: className,
    "aria-label": label,
    title: label,
  });
  button.append(icon(path));
  button.addEventListener("click", onClick);
  return button;
}

export function textButton(
  className: string,
  label: string,
  onClick: () => void,
): HTMLButtonElement {
  const button = el("button", { type: "button", class: className }, label);
  button.addEventListener("click", onClick);
  return button;
}

export function withIcon(button: HTMLButtonElement, path: string): HTMLButtonElement {
  button.prepend(icon(path));
  return button;
}
