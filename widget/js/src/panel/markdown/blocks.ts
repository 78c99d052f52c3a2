export type Align = "left" | "center" | "right" | null;

export type Block =
  | { kind: "paragraph"; text: string }
  | { kind: "heading"; level: number; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; text: string; depth: number }
  | ListBlock
  | { kind: "table"; align: Align[]; header: string[]; rows: string[][] }
  | { kind: "rule" };

export interface ListBlock {
  kind: "list";
  isOrdered: boolean;
  start: number;
  items: Block[][];
  /** The text of each item, by which a grown list finds those that did not change. */
  sources: string[];
}

export interface PlacedBlock {
  block: Block;
  /** Place in the parsed text. */
  start: number;
  end: number;
  /** A blank line stands before it, so nothing later can join it to what came before. */
  followsBlank: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:( +)(.*)|$)/;
const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Deeper nesting than this is shown as plain text. */
const MAX_DEPTH = 6;

/**
 * Splits Markdown into blocks. With `isOpen` the text is still being written: a table is
 * one from its first row on, and half a closing fence is not shown as code.
 */
export function parseBlocks(text: string, isOpen: boolean, depth = 0): PlacedBlock[] {
  return new BlockParser(text, isOpen, depth).parse();
}

class BlockParser {
  readonly #text: string;
  readonly #lines: string[];
  readonly #isOpen: boolean;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, isOpen: boolean, depth: number) {
    this.#text = text;
    this.#lines = text.split("\n").map(expandIndent);
    this.#isOpen = isOpen;
    this.#depth = depth;
  }

  parse(): PlacedBlock[] {
    const starts = lineStarts(this.#text);
    const placed: PlacedBlock[] = [];
    let followsBlank = true;
    while (this.#at < this.#lines.length) {
      if (isBlank(this.#lines[this.#at]!)) {
        followsBlank = true;
        this.#at += 1;
        continue;
      }
      const start = starts[this.#at]!;
      const block = this.#next();
      const end = starts[this.#at] ?? this.#text.length;
      placed.push({ block, start, end, followsBlank });
      followsBlank = this.#at > 0 && isBlank(this.#lines[this.#at - 1]!);
    }
    return placed;
  }

  #next(): Block {
    const line = this.#lines[this.#at]!;
    if (this.#depth >= MAX_DEPTH) return this.#paragraph();
    if (FENCE.test(line)) return this.#code();
    if (HEADING.test(line)) return this.#heading();
    if (RULE.test(line)) return this.#rule();
    if (QUOTE.test(line)) return this.#quote();
    if (ITEM.test(line)) return this.#list();
    if (this.#isTable(this.#at)) return this.#table();
    return this.#paragraph();
  }

  #code(): Block {
    const opening = FENCE.exec(this.#lines[this.#at]!)!;
    const fence = opening[1]!;
    const indent = indentOf(this.#lines[this.#at]!);
    const closing = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}[ \\t]*$`);
    const content: string[] = [];
    this.#at += 1;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at]!;
      this.#at += 1;
      if (closing.test(line)) break;
      const isLast = this.#at === this.#lines.length;
      if (isLast && (isBlank(line) || (this.#isOpen && isPartOf(fence, line)))) break;
      content.push(stripIndent(line, indent));
    }
    const language = opening[2]!.trim().split(/\s/)[0] ?? "";
    return { kind: "code", language, text: content.join("\n") };
  }

  #heading(): Block {
    const [, marks, text] = HEADING.exec(this.#lines[this.#at]!)!;
    this.#at += 1;
    const shown = (text ?? "").trim().replace(/(?:^|[ \t])#+$/, "");
    return { kind: "heading", level: marks!.length, text: shown.trimEnd() };
  }

  #rule(): Block {
    this.#at += 1;
    return { kind: "rule" };
  }

  #quote(): Block {
    const content: string[] = [];
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#lines[this.#at]!;
      if (!QUOTE.test(line)) break;
      content.push(line.replace(QUOTE, ""));
    }
    return { kind: "quote", text: content.join("\n"), depth: this.#depth + 1 };
  }

  #list(): Block {
    const [, lead, firstMarker] = ITEM.exec(this.#lines[this.#at]!)!;
    const style = markerStyle(firstMarker!);
    const nestedFrom = lead!.length + 2;
    const items: Block[][] = [];
    const sources: string[] = [];
    while (this.#at < this.#lines.length) {
      const item = ITEM.exec(this.#lines[this.#at]!);
      const isSibling =
        item !== null &&
        item[1]!.length < nestedFrom &&
        markerStyle(item[2]!) === style &&
        !RULE.test(this.#lines[this.#at]!);
      if (!isSibling) break;
      const source = this.#itemLines(item, nestedFrom).join("\n");
      items.push(this.#nested(source));
      sources.push(source);
    }
    const isOrdered = /\d/.test(firstMarker!);
    const start = parseInt(firstMarker!, 10) || 0;
    return { kind: "list", isOrdered, start, items, sources };
  }

  /** Takes one item's lines; blank lines after it are taken only if the item goes on. */
  #itemLines(item: RegExpExecArray, nestedFrom: number): string[] {
    const [, lead, marker, space, rest] = item;
    const contentIndent = lead!.length + marker!.length + Math.min((space ?? " ").length, 4);
    const content = [rest ?? ""];
    this.#at += 1;
    let blanks = 0;
    for (let at = this.#at; at < this.#lines.length; at += 1) {
      const line = this.#lines[at]!;
      if (isBlank(line)) {
        blanks += 1;
        continue;
      }
      const isNested = indentOf(line) >= nestedFrom;
      const isLazy = blanks === 0 && !ITEM.test(line) && !this.#startsBlock(at);
      if (!isNested && !isLazy) {
        // A sibling after blank lines still belongs to this list.
        if (blanks > 0 && ITEM.test(line)) this.#at = at;
        break;
      }
      for (; blanks > 0; blanks -= 1) content.push("");
      content.push(stripIndent(line, contentIndent));
      this.#at = at + 1;
    }
    return content;
  }

  #isTable(at: number): boolean {
    const header = this.#lines[at]!;
    if (!header.includes("|")) return false;
    const delimiter = this.#lines[at + 1];
    if (delimiter !== undefined && DELIMITER_ROW.test(delimiter)) {
      return splitRow(header).length === splitRow(delimiter).length;
    }
    if (!this.#isOpen || !header.trimStart().startsWith("|")) return false;
    const isLast = at + 2 >= this.#lines.length;
    return isLast && /^[|:\- \t]*$/.test(delimiter ?? "");
  }

  #table(): Block {
    const header = splitRow(this.#lines[this.#at]!);
    const align = splitRow(this.#lines[this.#at + 1] ?? "").map(alignOf);
    const rows: string[][] = [];
    this.#at = Math.min(this.#at + 2, this.#lines.length);
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#lines[this.#at]!;
      if (isBlank(line) || !line.includes("|")) break;
      rows.push(splitRow(line).slice(0, header.length));
    }
    return { kind: "table", align, header, rows };
  }

  #paragraph(): Block {
    const content: string[] = [];
    do {
      content.push(this.#lines[this.#at]!.trimStart());
      this.#at += 1;
    } while (this.#at < this.#lines.length && !this.#startsBlock(this.#at));
    return { kind: "paragraph", text: content.join("\n").trimEnd() };
  }

  #startsBlock(at: number): boolean {
    const line = this.#lines[at]!;
    if (isBlank(line)) return true;
    if (this.#depth >= MAX_DEPTH) return false;
    const item = ITEM.exec(line);
    const isItem = item !== null && !/^(?!1[.)])\d/.test(item[2]!);
    return (
      isItem ||
      FENCE.test(line) ||
      HEADING.test(line) ||
      RULE.test(line) ||
      QUOTE.test(line) ||
      this.#isTable(at)
    );
  }

  #nested(text: string): Block[] {
    const isOpen = this.#isOpen && this.#at >= this.#lines.length;
    return parseBlocks(text, isOpen, this.#depth + 1).map(({ block }) => block);
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

function expandIndent(line: string): string {
  return line.replace(/^[ \t]*\t[ \t]*/, (lead) => lead.replaceAll("\t", "    "));
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function stripIndent(line: string, most: number): string {
  return line.slice(Math.min(indentOf(line), most));
}

function isPartOf(fence: string, line: string): boolean {
  return fence.startsWith(line.trim());
}

function markerStyle(marker: string): string {
  return marker.slice(-1);
}

function alignOf(cell: string): Align {
  const isRight = cell.endsWith(":");
  if (cell.startsWith(":")) return isRight ? "center" : "left";
  return isRight ? "right" : null;
}

/** Cells of a table row; `\|` and a bar inside a code span do not divide. */
function splitRow(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  const cells = [""];
  let isInCode = false;
  for (let at = 0; at < inner.length; at += 1) {
    const char = inner[at]!;
    if (char === "\\" && inner[at + 1] === "|") {
      cells[cells.length - 1] += "|";
      at += 1;
    } else if (char === "|" && !isInCode) {
      cells.push("");
    } else {
      if (char === "`") isInCode = !isInCode;
      cells[cells.length - 1] += char;
    }
  }
  return cells.map((cell) => cell.trim());
}
