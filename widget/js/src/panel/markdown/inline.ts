import { el } from "../../dom.js";

const LINK_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:"]);
const SPECIAL = /[\\`*_~[!<\nhH]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}_]/u;
const AUTOLINK = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/iy;
const LINE_BREAK = /<br ?\/?>/iy;
const BARE_URL = /https?:\/\/[^\s<>"'`|\\^{}]+/iy;
const LINK_TARGET =
  /\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y;
const MAX_DEPTH = 6;

/** The address to link to, or `null`: only the scheme as the URL parser sees it counts. */
export function safeHref(address: string): string | null {
  try {
    const url = new URL(address);
    return LINK_SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * Appends inline Markdown as nodes. With `isOpen` the text is still being written: open
 * emphasis and code are closed at its end, and half a link shows its label only.
 */
export function appendInline(parent: Node, text: string, isOpen: boolean): void {
  new InlineParser(parent, text, isOpen, 0).run();
}

class InlineParser {
  readonly #parent: Node;
  readonly #text: string;
  readonly #isOpen: boolean;
  readonly #depth: number;
  /** Delimiters for which no closing one follows; keeps hostile text linear. */
  readonly #unclosed = new Set<string>();
  #brackets: Map<number, number> | null = null;
  #plain = "";
  #at = 0;

  constructor(parent: Node, text: string, isOpen: boolean, depth: number) {
    this.#parent = parent;
    this.#text = text;
    this.#isOpen = isOpen;
    this.#depth = depth;
  }

  run(): void {
    while (this.#at < this.#text.length) {
      SPECIAL.lastIndex = this.#at;
      const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
      this.#plain += this.#text.slice(this.#at, next);
      this.#at = next;
      if (next < this.#text.length && !this.#special(this.#text[next]!)) {
        this.#plain += this.#text[next]!;
        this.#at += 1;
      }
    }
    this.#flush();
  }

  /** Handles what stands at the current place, or leaves it as text. */
  #special(char: string): boolean {
    if (char === "\n") return this.#lineBreak(1);
    if (char === "\\") return this.#escape();
    if (char === "`") return this.#code();
    if (char === "<") return this.#angle();
    if (char === "h" || char === "H") return this.#bareUrl();
    if (char === "[") return this.#link(this.#at);
    if (char === "!") return this.#text[this.#at + 1] === "[" && this.#link(this.#at + 1);
    return this.#emphasis(char);
  }

  #lineBreak(length: number): boolean {
    this.#plain = this.#plain.trimEnd();
    this.#add(el("br"), this.#at + length);
    return true;
  }

  #escape(): boolean {
    const escaped = this.#text[this.#at + 1];
    if (escaped === undefined || !PUNCTUATION.test(escaped)) return false;
    this.#plain += escaped;
    this.#at += 2;
    return true;
  }

  #code(): boolean {
    const ticks = this.#runAt(this.#at);
    const from = this.#at + ticks;
    let close = this.#unclosed.has("`".repeat(ticks)) ? -1 : this.#closeOfCode(from, ticks);
    if (close === -1) {
      this.#unclosed.add("`".repeat(ticks));
      if (!this.#isOpen) return this.#literal(ticks);
      close = this.#text.length;
    }
    const content = this.#text.slice(from, close).replaceAll("\n", " ");
    const isPadded = /^ .*[^ ].* $/.test(content);
    const shown = isPadded ? content.slice(1, -1) : content;
    this.#add(shown === "" ? null : el("code", {}, shown), close + ticks);
    return true;
  }

  #closeOfCode(from: number, ticks: number): number {
    for (let at = this.#text.indexOf("`", from); at !== -1; ) {
      const run = this.#runAt(at);
      if (run === ticks) return at;
      at = this.#text.indexOf("`", at + run);
    }
    return -1;
  }

  #angle(): boolean {
    const lineBreak = this.#match(LINE_BREAK);
    if (lineBreak !== null) return this.#lineBreak(lineBreak[0].length);
    const autolink = this.#match(AUTOLINK);
    const href = autolink === null ? null : safeHref(autolink[1]!);
    if (autolink === null || href === null) return false;
    this.#add(anchor(href, autolink[1]!), this.#at + autolink[0].length);
    return true;
  }

  #bareUrl(): boolean {
    if (WORD.test(this.#text[this.#at - 1] ?? "")) return false;
    const match = this.#match(BARE_URL);
    if (match === null) return false;
    const address = withoutTrailingPunctuation(match[0]);
    const href = safeHref(address);
    if (href === null) return false;
    this.#add(anchor(href, address), this.#at + address.length);
    return true;
  }

  /** A link, or an image: an image is shown as a link, never fetched. */
  #link(bracket: number): boolean {
    this.#brackets ??= bracketPairs(this.#text);
    const close = this.#brackets.get(bracket);
    if (close === undefined || this.#depth >= MAX_DEPTH) return false;
    const label = this.#text.slice(bracket + 1, close);
    LINK_TARGET.lastIndex = close + 1;
    const target = LINK_TARGET.exec(this.#text);
    if (target === null) return this.#halfLink(label, close);
    const address = target[1] ?? target[2]!.replace(/\\(.)/g, "$1");
    const href = safeHref(address);
    if (href === null) return false;
    const link = anchor(href, label === "" ? address : "");
    this.#fill(link, label, false);
    this.#add(link, close + 1 + target[0].length);
    return true;
  }

  #halfLink(label: string, close: number): boolean {
    const rest = this.#text.slice(close + 1);
    if (!this.#isOpen || !/^\([^)\s]*$/.test(rest)) return false;
    const holder = document.createDocumentFragment();
    this.#fill(holder, label, false);
    this.#add(holder, this.#text.length);
    return true;
  }

  #emphasis(char: string): boolean {
    const run = this.#runAt(this.#at);
    const marks = char === "~" ? 2 : Math.min(run, 3);
    const from = this.#at + marks;
    const isOpening = from < this.#text.length && !/\s/.test(this.#text[from]!);
    const isInWord = char === "_" && WORD.test(this.#text[this.#at - 1] ?? "");
    if (this.#isOpen && this.#at + run === this.#text.length && !isInWord) {
      // The text ends in bare marks; what they mean shows with the next delta.
      this.#add(null, this.#text.length);
      return true;
    }
    if (!isOpening || isInWord || run > 3 || run < marks || this.#depth >= MAX_DEPTH) {
      return this.#literal(run);
    }
    const close = this.#closeOf(char, marks, from);
    if (close === -1 && !this.#isOpen) return this.#literal(run);
    const end = close === -1 ? this.#text.length : close;
    const inner = this.#text.slice(from, end);
    const element = emphasisElement(char, marks);
    const isHalf = close === -1;
    this.#fill(innermost(element), isHalf ? inner.replace(/[*_~]+$/, "") : inner, isHalf);
    this.#add(element, end + (isHalf ? 0 : marks));
    return true;
  }

  #closeOf(char: string, marks: number, from: number): number {
    const name = char.repeat(marks);
    if (this.#unclosed.has(name)) return -1;
    for (let at = this.#text.indexOf(char, from); at !== -1; ) {
      const run = this.#runAt(at);
      if (this.#closesHere(char, marks, at, run)) return at + run - marks;
      at = this.#text.indexOf(char, at + run);
    }
    this.#unclosed.add(name);
    return -1;
  }

  #closesHere(char: string, marks: number, at: number, run: number): boolean {
    const before = this.#text[at - 1] ?? " ";
    if (/\s/.test(before) || before === "\\") return false;
    if (char === "_" && WORD.test(this.#text[at + run] ?? "")) return false;
    return marks === 1 ? run === 1 || run === 3 : run >= marks && run <= 3;
  }

  #runAt(at: number): number {
    let end = at + 1;
    while (this.#text[end] === this.#text[at]) end += 1;
    return end - at;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #literal(length: number): boolean {
    this.#plain += this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
    return true;
  }

  #fill(parent: Node, text: string, isOpen: boolean): void {
    new InlineParser(parent, text, isOpen, this.#depth + 1).run();
  }

  #add(node: Node | null, next: number): void {
    this.#flush();
    if (node !== null) this.#parent.appendChild(node);
    this.#at = next;
  }

  #flush(): void {
    if (this.#plain !== "") this.#parent.appendChild(document.createTextNode(this.#plain));
    this.#plain = "";
  }
}

function anchor(href: string, text: string): HTMLAnchorElement {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

function emphasisElement(char: string, marks: number): HTMLElement {
  if (char === "~") return el("del");
  if (marks === 1) return el("em");
  return marks === 2 ? el("strong") : el("strong", {}, el("em"));
}

function innermost(element: HTMLElement): HTMLElement {
  return (element.firstElementChild as HTMLElement | null) ?? element;
}

function bracketPairs(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") open.push(at);
    else if (text[at] === "]" && open.length > 0) pairs.set(open.pop()!, at);
  }
  return pairs;
}

function withoutTrailingPunctuation(address: string): string {
  const opened = address.split("(").length;
  let closed = address.split(")").length;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1]!;
    if (last === ")" && closed > opened) closed -= 1;
    else if (!/[.,;:!?*_~\]]/.test(last)) break;
  }
  return address.slice(0, end);
}
