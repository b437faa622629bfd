import type { Bar } from '../../ui/bars.tsx';
import type { DraftFacts } from '../drafts/queries.ts';
import type { Run, RunRow } from './queries.ts';

const DAY_MS = 86_400_000;
const shown = (count: number): string => count.toLocaleString('en');

/** Returns how far a run is, with its counts so far. */
export function progressText({ counts, progress, state }: Run): string {
  if (state === 'waiting') return 'Waits for another comparison to end.';
  const read = `${shown(progress.read)} of ${shown(progress.total)} records read`;
  return counts === null ? `${read}.` : `${read}, ${shown(counts.events)} events evaluated.`;
}

/** Returns true if a draft was saved, published or discarded after the run was created. */
export function isOutdated({ changes, created_at: comparedAt }: Run, drafts: readonly DraftFacts[]): boolean {
  const revisions = new Set(drafts.map(({ revision }) => revision));
  return (
    drafts.some(({ at }) => at > comparedAt) ||
    changes.some(({ revision }) => revision !== null && !revisions.has(revision))
  );
}

/** Returns a bar for each day of the range, from the first to the last day on which a message differs. */
export function barsOf({ by_day: days }: NonNullable<Run['counts']>): readonly Bar[] {
  const counts = new Map(days.map((day) => [Date.parse(day.day), day]));
  const [first, last] = [days[0], days.at(-1)].map((day) => (day ? Date.parse(day.day) : null));
  if (typeof first !== 'number' || typeof last !== 'number') return [];
  const bars: Bar[] = [];
  for (let from = first; from <= last; from += DAY_MS) {
    const day = counts.get(from);
    bars.push({
      from,
      to: from + DAY_MS,
      counts: { good: day?.added ?? 0, held: day?.changed ?? 0, bad: day?.removed ?? 0 },
    });
  }
  return bars;
}

const STATES: Readonly<Record<Run['state'], string>> = {
  waiting: 'Waiting',
  running: 'Under way',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Stopped',
};
export const stateText = ({ state }: Run): string => STATES[state];

export const notificationsText = ({ notifications }: Run): string =>
  notifications.length === 0 ? 'No notification differs' : notifications.join(', ');

/** Returns the people of a run by difference, or its progress until they are counted. */
export function countsText({ counts, progress }: Run): string {
  const people = counts?.people;
  if (!people) return `${shown(progress.read)} of ${shown(progress.total)} records`;
  return `${shown(people.added)} added, ${shown(people.removed)} removed, ${shown(people.changed)} changed`;
}

/** Options of a filter; the first lets every row through. */
export const DIFFERENCES = [
  { id: '', name: 'Any difference' },
  { id: 'added', name: 'Added' },
  { id: 'removed', name: 'Removed' },
  { id: 'changed', name: 'Changed' },
  { id: 'new_unique_id', name: 'New unique_id' },
] as const;
export const SLOT_STATES = [
  { id: '', name: 'Any delivery' },
  { id: 'none', name: 'Never sent' },
  { id: 'notified', name: 'Already notified' },
  { id: 'waiting', name: 'Waiting' },
  { id: 'stopped', name: 'Not sent' },
] as const;

export const differenceText = (difference: RunRow['difference']): string =>
  DIFFERENCES.find(({ id }) => id === difference)?.name ?? difference;

/** Returns the address of a message, or both if the sides send to different ones. */
export function addressText({ before, after }: Pick<RunRow, 'before' | 'after'>): string {
  if (before !== null && after !== null && before !== after) return `${before} before, ${after} after`;
  return after ?? before ?? 'no address';
}
