import { el } from "../../dom.js";

const words = (list: string): Set<string> => new Set(list.split(" "));
const KEYWORDS = words(
  "abstract and as assert async await begin bool boolean break case catch char class const " +
    "continue def default defer delete do double elif else elsif end enum except export " +
    "extends false False final finally float fn for foreach from func function global go goto " +
    "if impl implements import in instanceof int interface is lambda let long loop match mod " +
    "module mut namespace new nil none None not null or package pass private protected pub " +
    "public raise readonly require return self short static string struct super switch then " +
    "this throw throws trait true True try type typeof undefined union unless until use using " +
    "var void when where while with yield echo fi done esac",
);
const SQL_KEYWORDS = words(
  "alter and as between by case create delete desc distinct drop else end exists from group " +
    "having in index inner insert into is join key left like limit not null offset on or order " +
    "outer primary references right select set table then union unique update using values " +
    "view when where with",
);
const HASH_COMMENTS = /^(py|python|rb|ruby|sh|bash|shell|zsh|yaml|yml|toml|ini|r|perl|make)/i;
const SQL = /sql/i;
const PLAIN = /^(|te?xt|plain|output|console|log|diff|md|markdown|csv)$/i;
const HASHES = /#[^\n]*/;
const SLASHES = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|<!--[^]*?(?:-->|$)/;
const DASHES = /--[^\n]*|\/\*[^]*?(?:\*\/|$)/;
/** Texts, numbers, and words; what stands behind a dot is a name, whatever it is called. */
const TOKEN =
  /("""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)|(\b\d[\w.]*)|(\.?[A-Za-z_$][\w$]*)/;

/** What is a comment in one language is a division or a tag in another. */
function tokensOf(language: string): RegExp {
  const isHashed = HASH_COMMENTS.test(language);
  const comment = isHashed ? HASHES : SQL.test(language) ? DASHES : SLASHES;
  return new RegExp(`(${comment.source})|${TOKEN.source}`, "g");
}

/** Appends code as text with its comments, strings, numbers and keywords marked. */
export function appendCode(parent: HTMLElement, code: string, language: string): void {
  if (PLAIN.test(language)) return parent.append(code);
  const isSql = SQL.test(language);
  let plainFrom = 0;
  for (const match of code.matchAll(tokensOf(language))) {
    const [token, comment, text, number, word = ""] = match;
    const isKeyword = isSql ? SQL_KEYWORDS.has(word.toLowerCase()) : KEYWORDS.has(word);
    const kind =
      comment !== undefined
        ? "c"
        : text !== undefined
          ? "s"
          : number !== undefined
            ? "n"
            : isKeyword
              ? "k"
              : "";
    if (kind === "") continue;
    parent.append(code.slice(plainFrom, match.index), el("span", { class: kind }, token));
    plainFrom = match.index + token.length;
  }
  parent.append(code.slice(plainFrom));
}
