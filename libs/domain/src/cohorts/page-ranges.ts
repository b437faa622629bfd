/** Numbers that have come, as runs `[first, last]` in order with gaps between them: in order of arrival it is one run. */
export type PageRanges = readonly (readonly [first: number, last: number])[];

/** With one more number; it may be there already. */
export function withPage(ranges: PageRanges, page: number): PageRanges {
  const before = ranges.filter(([, last]) => last < page - 1);
  const after = ranges.filter(([first]) => first > page + 1);
  const touching = ranges.slice(before.length, ranges.length - after.length);
  const first = Math.min(page, touching[0]?.[0] ?? page);
  const last = Math.max(page, touching.at(-1)?.[1] ?? page);
  return [...before, [first, last], ...after];
}

export const countPages = (ranges: PageRanges): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** Whether every number from 1 to `of` is there. */
export const hasAllPages = (ranges: PageRanges, of: number): boolean => {
  const [run] = ranges;
  return run !== undefined && run[0] <= 1 && run[1] >= of;
};
