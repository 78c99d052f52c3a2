export interface View<State> {
  element: HTMLElement;
  update(state: State): void;
}

export type Child = Node | string;

type Attributes = Record<string, string | boolean>;

/** Builds an element; `true` sets an empty attribute, `false` leaves it out. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [
    ["viewBox", "0 0 24 24"],
    ["aria-hidden", "true"],
  ] as const) {
    svg.setAttribute(name, value);
  }
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** Constructed sheets pass any content security policy; Safari before 16.4 has none. */
export function adoptStyles(root: ShadowRoot, css: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  } catch {
    root.append(el("style", {}, css));
  }
}
