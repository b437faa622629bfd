/**
 * The library's tree forgets brackets, so the range of `(a + b) * c` begins at `a`. This finds each bracket's partner,
 * outside text and comments, to give every part a range that reads well on its own.
 */
export function matchBrackets(source: string): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  const token = /\/\/[^\n]*|[rRbB]?("""|'''|"|')|[()]/g;
  for (let found = token.exec(source); found; found = token.exec(source)) {
    const quote = found[1];
    if (quote !== undefined) token.lastIndex = endOfText(source, token.lastIndex, quote);
    else if (found[0] === '(') open.push(found.index);
    else if (found[0] === ')') {
      const start = open.pop();
      if (start === undefined) continue;
      partners.set(start, found.index);
      partners.set(found.index, start);
    }
  }
  return partners;
}

/** Where a text that began before `from` ends, its closing quote included. */
export function endOfText(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source.startsWith(quote, at)) return at + quote.length;
  }
  return source.length;
}

export type Range = { readonly start: number; readonly end: number };

/** The range with the partners of the brackets in it. */
export function balance(range: Range, partners: ReadonlyMap<number, number>): Range {
  let { start, end } = range;
  for (const [at, partner] of partners) {
    if (at < range.start || at >= range.end) continue;
    start = Math.min(start, partner);
    end = Math.max(end, partner + 1);
  }
  return { start, end };
}
