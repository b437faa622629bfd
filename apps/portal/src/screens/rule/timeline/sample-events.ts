import type { Sample } from '../queries.ts';

/** Returns the events or changes of a sample as JSON texts, oldest first: the rule fires at the last one. Empty: it is not known yet. */
export function sampleEvents(sample: Sample | undefined): readonly string[] {
  if (sample === undefined) return [];
  const { event, change, earlier } = sample;
  const asSent = (row: string): string =>
    change === null ? row : JSON.stringify({ ...(JSON.parse(change) as object), event: JSON.parse(row) as unknown });
  return [
    ...earlier.flatMap((group) => Array.from({ length: group.times }, () => asSent(group.event))),
    change ?? event,
  ];
}
