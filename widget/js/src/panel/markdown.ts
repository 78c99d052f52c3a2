import { el } from "../dom.js";
import type { CopyLabels } from "./copy.js";
import { parseBlocks, type Block, type PlacedBlock } from "./markdown/blocks.js";
import { growBlock, renderBlock, type Rendering } from "./markdown/render.js";

interface ShownBlock {
  block: Block;
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
  readonly element: HTMLElement;
  readonly #rendering: Rendering;
  readonly #depth: number;
  #text = "";
  #isOpen = false;
  #shown: ShownBlock[] = [];

  constructor(
    labels: CopyLabels,
    element: HTMLElement = el("div", { class: "markdown" }),
    depth = 0,
  ) {
    this.element = element;
    this.#depth = depth;
    this.#rendering = {
      labels,
      blocksIn: (parent, below) => new MarkdownView(labels, parent, below),
    };
  }

  update(rawText: string, isOpen: boolean): void {
    const text = rawText.includes("\r") ? rawText.replace(/\r\n?/g, "\n") : rawText;
    if (text === this.#text && isOpen === this.#isOpen) return;
    const kept = text.startsWith(this.#text) ? this.#countOfStable() : 0;
    const from = this.#shown[kept]?.start ?? 0;
    const placed = parseBlocks(text.slice(from), isOpen, this.#depth);
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
    const place = { block, source, isOpen, followsBlank, start: from + start };
    const isSame = before?.source === source && before.isOpen === isOpen;
    if (
      before !== undefined &&
      (isSame || growBlock(before.node, before.block, block, isOpen, this.#rendering))
    ) {
      this.#shown[index] = { ...place, node: before.node };
      return;
    }
    const node = renderBlock(block, isOpen, this.#rendering);
    if (before === undefined) this.element.append(node);
    else before.node.replaceWith(node);
    this.#shown[index] = { ...place, node };
  }
}
