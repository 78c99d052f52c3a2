/**
 * A long run of text is laid out in pieces of its own, so that a browser need not break
 * 100,000 letters into lines again for each word that is added at the end. Where a piece
 * ends depends on the text before that place alone: text that grows keeps its pieces.
 */
const LONG = 2000;
/** A piece whose marks never pair up ends here all the same. */
const LONGEST = 6000;

/** All pieces but the last end in white space. */
export function splitProse(text: string): string[] {
  return split(text, endOfProse);
}

/** All pieces but the last end in a line end. */
export function splitCode(text: string): string[] {
  return split(text, (whole, from) => whole.indexOf("\n", from + LONG) + 1);
}

/** `endOf` gives the place after the piece, or 0 if it has no end yet. */
function split(text: string, endOf: (text: string, from: number) => number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > LONG) {
    const end = endOf(text, from);
    if (end === 0) break;
    pieces.push(text.slice(from, end));
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** The first white space after `LONG` letters that stands in no link, code or emphasis. */
function endOfProse(text: string, from: number): number {
  let odd = 0;
  let brackets = 0;
  for (let at = from; at < text.length; at += 1) {
    const mark = "*`~".indexOf(text[at]!);
    if (mark !== -1) odd ^= 1 << mark;
    else if (text[at] === "[") brackets += 1;
    else if (text[at] === "]") brackets = Math.max(0, brackets - 1);
    const length = at - from;
    if (length < LONG || !/[ \n]/.test(text[at]!)) continue;
    if ((odd === 0 && brackets === 0) || length > LONGEST) return at + 1;
  }
  return 0;
}
