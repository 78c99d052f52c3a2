import { el, icon } from "../dom.js";
import { CHECK, COPY } from "../icons.js";
import { parseBlocks, type Block, type PlacedBlock } from "./markdown/blocks.js";
import { appendInline } from "./markdown/inline.js";

export interface MarkdownLabels {
  copy: string;
  copied: string;
}

interface ShownBlock {
  source: string;
  isOpen: boolean;
  followsBlank: boolean;
  start: number;
  node: HTMLElement;
}

/**
 * Shows Markdown that may still be growing. Blocks that later text cannot change keep
 * their nodes, so that a long reply costs no more per frame than its last part.
 */
export class MarkdownView {
  readonly element = el("div", { class: "markdown" });
  readonly #labels: MarkdownLabels;
  #text = "";
  #isOpen = false;
  #shown: ShownBlock[] = [];

  constructor(labels: MarkdownLabels) {
    this.#labels = labels;
  }

  update(rawText: string, isOpen: boolean): void {
    const text = rawText.includes("\r") ? rawText.replace(/\r\n?/g, "\n") : rawText;
    if (text === this.#text && isOpen === this.#isOpen) return;
    const kept = text.startsWith(this.#text) ? this.#countOfStable() : 0;
    const from = this.#shown[kept]?.start ?? 0;
    const placed = parseBlocks(text.slice(from), isOpen);
    placed.forEach((block, index) => {
      const isLast = index === placed.length - 1;
      this.#show(kept + index, block, text, from, isOpen && isLast);
    });
    for (const gone of this.#shown.splice(kept + placed.length)) gone.node.remove();
    this.#text = text;
    this.#isOpen = isOpen;
  }

  /** Blocks before the last one that begins, with a whole line, after a blank line. */
  #countOfStable(): number {
    for (let index = this.#shown.length - 1; index > 0; index -= 1) {
      const { start, followsBlank } = this.#shown[index]!;
      if (followsBlank && this.#text.indexOf("\n", start) !== -1) return index;
    }
    return 0;
  }

  #show(
    index: number,
    { block, start, end, followsBlank }: PlacedBlock,
    text: string,
    from: number,
    isOpen: boolean,
  ): void {
    const source = text.slice(from + start, from + end);
    const before = this.#shown[index];
    const place = { source, isOpen, followsBlank, start: from + start };
    if (before?.source === source && before.isOpen === isOpen) {
      this.#shown[index] = { ...place, node: before.node };
      return;
    }
    if (before !== undefined && block.kind === "code" && continueCode(before.node, block)) {
      this.#shown[index] = { ...place, node: before.node };
      return;
    }
    const node = renderBlock(block, isOpen, this.#labels);
    if (before === undefined) this.element.append(node);
    else before.node.replaceWith(node);
    this.#shown[index] = { ...place, node };
  }
}

type CodeBlock = Extract<Block, { kind: "code" }>;

/** Code grows in place: its scroll position, selection and button stay. */
function continueCode(node: HTMLElement, block: CodeBlock): boolean {
  const code = node.querySelector<HTMLElement>(":scope > pre > code");
  if (code === null || node.dataset["language"] !== block.language) return false;
  if (code.textContent !== block.text) code.textContent = block.text;
  return true;
}

function renderBlock(block: Block, isOpen: boolean, labels: MarkdownLabels): HTMLElement {
  switch (block.kind) {
    case "paragraph":
      return inlineElement(el("p"), block.text, isOpen);
    case "heading": {
      // The panel's own title is level 2; a reply's headings stand below it.
      const level = Math.min(6, block.level + 2) as 3 | 4 | 5 | 6;
      return inlineElement(el(`h${level}`), block.text, isOpen);
    }
    case "code":
      return renderCode(block, labels);
    case "quote":
      return renderInto(el("blockquote"), block.blocks, isOpen, labels);
    case "list":
      return renderList(block, isOpen, labels);
    case "table":
      return renderTable(block, isOpen);
    case "rule":
      return el("hr");
  }
}

function inlineElement<T extends HTMLElement>(element: T, text: string, isOpen: boolean): T {
  appendInline(element, text, isOpen);
  return element;
}

function renderInto<T extends HTMLElement>(
  parent: T,
  blocks: readonly Block[],
  isOpen: boolean,
  labels: MarkdownLabels,
): T {
  blocks.forEach((block, index) => {
    const isOpenHere = isOpen && index === blocks.length - 1;
    parent.append(renderBlock(block, isOpenHere, labels));
  });
  return parent;
}

function renderList(
  list: Extract<Block, { kind: "list" }>,
  isOpen: boolean,
  labels: MarkdownLabels,
): HTMLElement {
  const element = list.isOrdered ? el("ol") : el("ul");
  if (list.isOrdered && list.start !== 1) element.setAttribute("start", String(list.start));
  list.items.forEach((blocks, index) => {
    const isOpenHere = isOpen && index === list.items.length - 1;
    const item = el("li");
    const [first, ...rest] = blocks;
    if (first?.kind === "paragraph") {
      appendInline(item, first.text, isOpenHere && rest.length === 0);
      renderInto(item, rest, isOpenHere, labels);
    } else {
      renderInto(item, blocks, isOpenHere, labels);
    }
    element.append(item);
  });
  return element;
}

function renderTable(
  table: Extract<Block, { kind: "table" }>,
  isOpen: boolean,
): HTMLElement {
  const cell = (tag: "th" | "td", text: string, column: number): HTMLElement => {
    const align = table.align[column];
    return inlineElement(el(tag, align ? { class: `align-${align}` } : {}), text, isOpen);
  };
  const row = (tag: "th" | "td", cells: readonly string[]): HTMLElement =>
    el("tr", {}, ...table.header.map((_, column) => cell(tag, cells[column] ?? "", column)));
  const body = el("tbody", {}, ...table.rows.map((cells) => row("td", cells)));
  const content = el("table", {}, el("thead", {}, row("th", table.header)), body);
  return el("div", { class: "table", tabindex: "0" }, content);
}

function renderCode(block: CodeBlock, labels: MarkdownLabels): HTMLElement {
  const code = el("code", {}, block.text);
  const copy = copyButton(labels, () => code.textContent ?? "");
  const head = el(
    "div",
    { class: "code-head" },
    el("span", {}, block.language),
    ...(copy === null ? [] : [copy]),
  );
  const element = el("div", { class: "code" }, head, el("pre", { tabindex: "0" }, code));
  element.dataset["language"] = block.language;
  return element;
}

/** `null` where the page may not use the clipboard. */
export function copyButton(
  labels: MarkdownLabels,
  text: () => string,
): HTMLButtonElement | null {
  const { clipboard } = navigator;
  if (!clipboard) return null;
  const button = el("button", { type: "button", class: "copy", "aria-label": labels.copy });
  button.append(icon(COPY));
  button.addEventListener("click", () => {
    clipboard.writeText(text()).then(
      () => {
        button.replaceChildren(icon(CHECK));
        button.setAttribute("aria-label", labels.copied);
        setTimeout(() => {
          button.replaceChildren(icon(COPY));
          button.setAttribute("aria-label", labels.copy);
        }, 1600);
      },
      () => undefined,
    );
  });
  return button;
}
