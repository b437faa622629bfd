/**
 * The control characters of ASCII and Latin-1 (Unicode category Cc), line ends and tabs among them. No name, address, id
 * or header holds one.
 */
export const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Insertions, deletions and replacements that make one text of another. Takes time by the product of their lengths: cut what is foreign. */
export function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
