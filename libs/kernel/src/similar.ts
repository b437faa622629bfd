/** Returns the known word that was probably meant, if one is similar enough. */
export function similarTo(word: string, known: readonly string[]): string | null {
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.candidate ?? null;
}

/** Insertions, deletions, replacements and swaps of neighbours; words longer than 40 letters are never near. */
function editDistance(a: string, b: string): number {
  if (a.length > 40 || b.length > 40) return Infinity;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_item, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, (older[column - 2] ?? 0) + 1);
      current.push(best);
    }
    older = last;
    last = current;
  }
  return last[b.length] ?? Infinity;
}
