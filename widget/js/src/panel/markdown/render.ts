import { el } from "../../dom.js";
import { copyButton, type CopyLabels } from "../copy.js";
import type { Block, ListBlock } from "./blocks.js";
import { appendCode } from "./highlight.js";
import { appendInline } from "./inline.js";
import { splitCode, splitProse } from "./pieces.js";

/** Shows the text of a quote, which holds blocks of its own. */
export interface BlocksView {
  update(text: string, isOpen: boolean): void;
}

export interface Rendering {
  labels: CopyLabels;
  blocksIn(element: HTMLElement, depth: number): BlocksView;
}

type Of<Kind extends Block["kind"]> = Extract<Block, { kind: Kind }>;

/** What an element was last filled with, so that it can grow in place. */
const shownPieces = new WeakMap<Node, string[]>();
const shownQuotes = new WeakMap<Node, BlocksView>();

/** From this many rows on, columns no longer take their width from their content. */
const LONG_TABLE = 40;

export function renderBlock(block: Block, isOpen: boolean, rendering: Rendering): HTMLElement {
  switch (block.kind) {
    case "paragraph":
      return fillProse(el("p"), block.text, isOpen);
    case "heading": {
      // The panel's own title is level 2; a reply's headings stand below it.
      const level = Math.min(6, block.level + 2) as 3 | 4 | 5 | 6;
      return inlineElement(el(`h${level}`), block.text, isOpen);
    }
    case "code":
      return renderCode(block, rendering.labels);
    case "quote":
      return renderQuote(block, isOpen, rendering);
    case "list":
      return renderList(block, isOpen, rendering);
    case "table":
      return renderTable(block, isOpen);
    case "rule":
      return el("hr");
  }
}

/** Lets the node of `before` show `block`; false if it takes a new node. */
export function growBlock(
  node: HTMLElement,
  before: Block,
  block: Block,
  isOpen: boolean,
  rendering: Rendering,
): boolean {
  if (block.kind === "paragraph" && before.kind === "paragraph") {
    fillProse(node, block.text, isOpen);
    return true;
  }
  if (block.kind === "code" && before.kind === "code") {
    return before.language === block.language && growCode(node, block);
  }
  if (block.kind === "quote" && before.kind === "quote") {
    shownQuotes.get(node)?.update(block.text, isOpen);
    return true;
  }
  if (block.kind === "list" && before.kind === "list") {
    return growList(node, before, block, isOpen, rendering);
  }
  return (
    block.kind === "table" && before.kind === "table" && growTable(node, before, block, isOpen)
  );
}

function inlineElement<T extends HTMLElement>(element: T, text: string, isOpen: boolean): T {
  appendInline(element, text, isOpen);
  return element;
}

/** Makes the element hold the pieces; those that it holds already keep their nodes. */
function fillPieces<T extends HTMLElement>(
  element: T,
  pieces: string[],
  nodesEach: number,
  append: (piece: string, isLast: boolean) => void,
): T {
  const before = shownPieces.get(element) ?? [];
  const most = Math.min(before.length, pieces.length) - 1;
  let kept = 0;
  while (kept < most && before[kept] === pieces[kept]) kept += 1;
  while (element.childNodes.length > kept * nodesEach) element.lastChild!.remove();
  for (let index = kept; index < pieces.length; index += 1) {
    append(pieces[index]!, index === pieces.length - 1);
  }
  shownPieces.set(element, pieces);
  return element;
}

function fillProse<T extends HTMLElement>(element: T, text: string, isOpen: boolean): T {
  return fillPieces(element, splitProse(text), 2, (piece, isLast) => {
    if (isLast) return appendInline(element, piece, isOpen);
    const run = inlineElement(el("span", { class: "run" }), piece.slice(0, -1), false);
    const isLineEnd = piece.endsWith("\n");
    if (isLineEnd) run.append(el("br"));
    element.append(run, document.createTextNode(isLineEnd ? "" : " "));
  });
}

function renderQuote(block: Of<"quote">, isOpen: boolean, rendering: Rendering): HTMLElement {
  const element = el("blockquote");
  const view = rendering.blocksIn(element, block.depth);
  shownQuotes.set(element, view);
  view.update(block.text, isOpen);
  return element;
}

function renderList(list: ListBlock, isOpen: boolean, rendering: Rendering): HTMLElement {
  const element = list.isOrdered ? el("ol") : el("ul");
  if (list.isOrdered && list.start !== 1) element.setAttribute("start", String(list.start));
  list.items.forEach((blocks, index) => {
    element.append(renderItem(blocks, isOpen && index === list.items.length - 1, rendering));
  });
  return element;
}

function growList(
  node: HTMLElement,
  before: ListBlock,
  list: ListBlock,
  isOpen: boolean,
  rendering: Rendering,
): boolean {
  if (before.isOrdered !== list.isOrdered || before.start !== list.start) return false;
  const most = Math.min(before.items.length, list.items.length) - 1;
  let kept = 0;
  while (kept < most && before.sources[kept] === list.sources[kept]) kept += 1;
  while (node.children.length > kept) node.lastElementChild!.remove();
  for (let index = kept; index < list.items.length; index += 1) {
    const isLast = index === list.items.length - 1;
    node.append(renderItem(list.items[index]!, isOpen && isLast, rendering));
  }
  return true;
}

function renderItem(blocks: Block[], isOpen: boolean, rendering: Rendering): HTMLElement {
  const item = el("li");
  const [first, ...rest] = blocks;
  const isPlain = first?.kind === "paragraph";
  if (isPlain) appendInline(item, first.text, isOpen && rest.length === 0);
  const others = isPlain ? rest : blocks;
  others.forEach((block, index) => {
    item.append(renderBlock(block, isOpen && index === others.length - 1, rendering));
  });
  return item;
}

function renderTable(table: Of<"table">, isOpen: boolean): HTMLElement {
  const isOpenHead = isOpen && table.rows.length === 0;
  const body = el("tbody");
  const head = el("thead", {}, renderRow("th", table, table.header, isOpenHead));
  const element = el(
    "div",
    { class: tableClass(table), tabindex: "0" },
    el("table", {}, head, body),
  );
  appendRows(body, table, 0, isOpen);
  return element;
}

function growTable(
  node: HTMLElement,
  before: Of<"table">,
  table: Of<"table">,
  isOpen: boolean,
): boolean {
  const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
    a.length === b.length && a.every((cell, index) => cell === b[index]);
  if (before.rows.length === 0 || table.rows.length === 0) return false;
  if (!isSame(before.header, table.header) || !isSame(before.align, table.align)) return false;
  const body = node.querySelector("tbody")!;
  const most = Math.min(before.rows.length, table.rows.length) - 1;
  let kept = 0;
  while (kept < most && isSame(before.rows[kept]!, table.rows[kept]!)) kept += 1;
  while (body.children.length > kept) body.lastElementChild!.remove();
  appendRows(body, table, kept, isOpen);
  node.className = tableClass(table);
  return true;
}

function tableClass({ rows }: Of<"table">): string {
  return rows.length > LONG_TABLE ? "table long" : "table";
}

function appendRows(
  body: HTMLElement,
  table: Of<"table">,
  from: number,
  isOpen: boolean,
): void {
  for (let index = from; index < table.rows.length; index += 1) {
    const isOpenHere = isOpen && index === table.rows.length - 1;
    body.append(renderRow("td", table, table.rows[index]!, isOpenHere));
  }
}

function renderRow(
  tag: "th" | "td",
  table: Of<"table">,
  cells: readonly string[],
  isOpen: boolean,
): HTMLElement {
  const row = table.header.map((_, column) => {
    const align = table.align[column];
    const cell = el(tag, align ? { class: `align-${align}` } : {});
    return inlineElement(cell, cells[column] ?? "", isOpen);
  });
  return el("tr", {}, ...row);
}

function renderCode(block: Of<"code">, labels: CopyLabels): HTMLElement {
  const code = el("code");
  const copy = copyButton(labels, () => code.textContent ?? "");
  const head = el(
    "div",
    { class: "code-head" },
    el("span", {}, block.language),
    ...(copy === null ? [] : [copy]),
  );
  fillCode(code, block);
  return el("div", { class: "code" }, head, el("pre", { tabindex: "0" }, code));
}

/** Code grows in place: its scroll position and its button stay. */
function growCode(node: HTMLElement, block: Of<"code">): boolean {
  const code = node.querySelector<HTMLElement>(":scope > pre > code");
  if (code === null) return false;
  fillCode(code, block);
  return true;
}

function fillCode(code: HTMLElement, { text, language }: Of<"code">): void {
  const pieces = splitCode(text);
  code.classList.toggle("long", pieces.length > 1);
  if (code.className === "") code.removeAttribute("class");
  fillPieces(code, pieces, 1, (piece, isLast) => {
    if (isLast) return appendCode(code, piece, language);
    const run = el("span", { class: "run" });
    appendCode(run, piece, language);
    code.append(run);
  });
}
