import type { Bar } from '../../ui/bars.tsx';
import type { Tone } from '../../ui/state-words.ts';
import type { DraftFacts } from '../drafts/queries.ts';
import type { Run, RunRow } from './queries.ts';

const DAY_MS = 86_400_000;
const shown = (count: number): string => count.toLocaleString('en');

/** Returns how far a run is, with its counts so far. */
export function progressText({ counts, find, progress, state, verified }: Run): string {
  if (state === 'waiting') return 'Waits to begin. Comparisons, verifications and searches run one at a time.';
  const read = `${shown(progress.read)} of ${shown(progress.total)} records read`;
  if (find) return `${read}, ${shown(find.found)} of ${shown(find.events)} events hold the text.`;
  const events = (counts ?? verified)?.events;
  return events === undefined ? `${read}.` : `${read}, ${shown(events)} events evaluated.`;
}

/** Returns true if a draft was saved, published or discarded after the run was created. */
export function isOutdated({ changes, created_at: comparedAt }: Run, drafts: readonly DraftFacts[]): boolean {
  const revisions = new Set(drafts.map(({ revision }) => revision));
  return (
    drafts.some(({ at }) => at > comparedAt) ||
    changes.some(({ revision }) => revision !== null && !revisions.has(revision))
  );
}

/** Returns a bar for each day of the range in UTC. Days before the log's start are left out. */
export function barsOf({ counts, from, to, log_starts_at: start }: Run): readonly Bar[] {
  const days = new Map((counts?.by_day ?? []).map((day) => [Date.parse(day.day), day]));
  if (days.size === 0) return [];
  const bars: Bar[] = [];
  for (let at = dayStart(start ?? from); at < Date.parse(to); at += DAY_MS) {
    const { added = 0, changed = 0, removed = 0, new_unique_id: renamed = 0 } = days.get(at) ?? {};
    bars.push({ from: at, to: at + DAY_MS, counts: { good: added, held: changed, bad: removed, none: renamed } });
  }
  return bars;
}

const dayStart = (time: string): number => Math.floor(Date.parse(time) / DAY_MS) * DAY_MS;

const STATES: Readonly<Record<Run['state'], string>> = {
  waiting: 'Waiting',
  running: 'Under way',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
export const stateText = ({ state }: Run): string => STATES[state];

export function notificationsText({ kind, notifications }: Run): string {
  if (kind === 'verify') return 'Verification of past events';
  if (kind === 'find') return 'Search for a text';
  return notifications.length === 0 ? 'No notification differs' : notifications.join(', ');
}

/** Returns the people of a comparison by difference or the findings of a verification, or the progress until they are counted. */
export function countsText({ counts, find, progress, state, verified }: Run): string {
  if (verified && state === 'done') {
    const { different, missing, no_cause: withoutCause } = verified;
    return `${shown(missing)} missing, ${shown(withoutCause)} without cause, ${shown(different)} different`;
  }
  if (find && state === 'done') return `${shown(find.found)} events found`;
  const people = counts?.people;
  if (!people) return `${shown(progress.read)} of ${shown(progress.total)} records`;
  return `${shown(people.added)} added, ${shown(people.removed)} removed, ${shown(people.changed)} changed`;
}

/** Returns the title of a run. */
export function titleOf({ kind, notifications }: Run): string {
  if (kind === 'verify') return 'Verification';
  if (kind === 'find') return 'Search';
  const [only] = notifications;
  return notifications.length === 1 ? `Comparison of ${only}` : `Comparison of ${notifications.length} notifications`;
}

/** Returns both sides of a run in words. */
export function sidesText({ before, changes, published, ...run }: Run): string {
  if (run.kind === 'verify') return 'Past events evaluated again, and compared with the messages on the log.';
  if (run.kind === 'find') return 'Past events searched for a text, which is not kept.';
  const edited = changes.map(({ kind, name }) => (name === '' ? `${kind} settings` : `${kind} ${name}`)).join(', ');
  const after = edited === '' ? `configuration ${published}` : `configuration ${published} with the edit of ${edited}`;
  return `Before: configuration ${before}. After: ${after}.`;
}

/** Returns the reason of a run that failed or was cancelled, as a sentence. */
export function reasonText({ reason, state }: Run): string {
  const detail = reason?.detail ?? `the run is ${state}`;
  return `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}${/[.!?]$/.test(detail) ? '' : '.'}`;
}

type Difference = RunRow['difference'];
/** The colour that each difference has in charts and lists. */
export const DIFFERENCE_TONES: Readonly<Record<Difference, Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'held',
  new_unique_id: 'none',
};
const DIFFERENCE_NAMES: Readonly<Record<Difference, string>> = {
  added: 'Added',
  removed: 'Removed',
  changed: 'Changed',
  new_unique_id: 'New unique_id',
};
export const ROW_DIFFERENCES = ['added', 'removed', 'changed', 'new_unique_id'] as const;
/** The names of the colours in a chart. */
export const TONE_NAMES = Object.fromEntries(
  ROW_DIFFERENCES.map((difference) => [DIFFERENCE_TONES[difference], DIFFERENCE_NAMES[difference]]),
) as Readonly<Partial<Record<Tone, string>>>;

/** Options of a filter; the first lets every row through. */
export const DIFFERENCES = [
  { id: '', name: 'Any difference' },
  ...ROW_DIFFERENCES.map((id) => ({ id, name: DIFFERENCE_NAMES[id] })),
];
export const SLOT_STATES = [
  { id: '', name: 'Any delivery' },
  { id: 'none', name: 'Never sent' },
  { id: 'notified', name: 'Already notified' },
  { id: 'waiting', name: 'Waiting' },
  { id: 'stopped', name: 'Not sent' },
] as const;

export const differenceText = (difference: Difference): string => DIFFERENCE_NAMES[difference];

/** Returns the options of the filters by rule and by day: those with a message that differs. */
export function ruleOptions({ counts }: Run): readonly Option[] {
  const rules = (counts?.by_rule ?? []).filter((rule) => ROW_DIFFERENCES.some((difference) => rule[difference] > 0));
  return [{ id: '', name: 'Any rule' }, ...rules.map(({ rule }) => ({ id: rule, name: rule }))];
}
export function dayOptions({ counts }: Run): readonly Option[] {
  const days = (counts?.by_day ?? []).map(({ day }) => ({ id: day, name: day }));
  return [{ id: '', name: 'Any day' }, ...days];
}
type Option = { readonly id: string; readonly name: string };

/** Returns the address of a message, or both if the sides send to different ones. */
export function addressText({ before, after }: Pick<RunRow, 'before' | 'after'>): string {
  if (before !== null && after !== null && before !== after) return `${before} before, ${after} after`;
  return after ?? before ?? 'no address';
}
