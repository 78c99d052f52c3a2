import { el } from "../../dom.js";

const KEYWORDS = new Set(
  (
    "abstract and as assert async await begin bool boolean break case catch char class const " +
    "continue def default defer delete do double elif else elsif end enum except export " +
    "extends false final finally float fn for foreach from func function global go goto if " +
    "impl implements import in instanceof int interface is lambda let long loop match mod " +
    "module mut namespace new nil none not null or package pass private protected pub public " +
    "raise readonly require return self short static string struct super switch then this " +
    "throw throws trait true try type typeof undefined union unless until use using var void " +
    "when where while with yield alter by create drop group having insert into join limit on " +
    "order select set table update values echo fi done esac"
  ).split(" "),
);
const HASH_COMMENTS = /^(py|python|rb|ruby|sh|bash|shell|zsh|yaml|yml|toml|ini|r|perl|make)/i;
const PLAIN = /^(|te?xt|plain|output|console|log|diff|md|markdown|csv)$/i;
const TOKEN =
  /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|<!--[^]*?(?:-->|$)|--\s[^\n]*)|(#[^\n]*)|("""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)/g;

/** Appends code as text with its comments, strings, numbers and keywords marked. */
export function appendCode(parent: HTMLElement, code: string, language: string): void {
  if (PLAIN.test(language)) return parent.append(code);
  const hasHashComments = HASH_COMMENTS.test(language);
  let plainFrom = 0;
  for (const match of code.matchAll(TOKEN)) {
    const [token, comment, hash, text, number, word] = match;
    const isKeyword = word !== undefined && KEYWORDS.has(word.toLowerCase());
    const kind =
      comment !== undefined || (hash !== undefined && hasHashComments)
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
