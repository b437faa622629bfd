import type { RunBody, RunRowBody } from '@carillon/contracts';
import { clean, paint, shortTime, table } from '../output.ts';

const BAR_WIDTH = 24;

/** Returns progress and the counts so far on one line: `██████░░░░  118 of 412 records, 97 events evaluated, running`. */
export function runProgressText({ counts, find, progress, state, verified }: RunBody): string {
  const { read, total } = progress;
  const filled = total === 0 ? 0 : Math.min(BAR_WIDTH, Math.floor((read / total) * BAR_WIDTH));
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const evaluated = (counts ?? verified)?.events;
  const searched = find === null ? '' : `, ${find.found} of ${find.events} events hold the text`;
  const events = evaluated === undefined ? searched : `, ${evaluated} events evaluated`;
  return `${bar}  ${read} of ${total} records${events}, ${state}`;
}

/** Returns a run as people read it: the warning, the sentence, counts by rule and day, and how to list the rows. */
export function runText(run: RunBody): string {
  const { id, job, kept_until: keptUntil, reason, sentence, state, warning } = run;
  if (state === 'waiting' || state === 'running') return `${id}  ${runProgressText(run)}`;
  const result =
    sentence === null
      ? [paint('bold', `${id} is ${state}${reason === null ? '' : `: ${clean(reason.detail)}`}`)]
      : [...(warning === null ? [] : [paint('yellow', clean(warning))]), paint('bold', clean(sentence))];
  return [
    ...result,
    ...block(rulesText(run)),
    ...block(daysText(run)),
    ...block(run.notes.map(clean).join('\n')),
    '',
    paint('dim', `${id} in ${job}, from ${shortTime(startOf(run))} to ${shortTime(run.to)}${sidesText(run)}`),
    ...(keptUntil === null ? [] : [paint('dim', `kept until ${shortTime(keptUntil)}`)]),
    ...(hasRows(run) ? [`The messages: npx carillon replay rows ${id}`] : []),
  ].join('\n');
}

/** A search of the whole log begins where the log does. */
const startOf = ({ kind, from, log_starts_at: logStartsAt }: RunBody): string =>
  kind === 'find' ? (logStartsAt ?? from) : from;

function sidesText({ before, changes, kind, published }: RunBody): string {
  if (kind !== 'compare') return '';
  return changes.length > 0 || before === published
    ? `, configuration ${before} before the edit`
    : `, configuration ${published} compared with configuration ${before}`;
}

const block = (text: string): readonly string[] => (text === '' ? [] : ['', text]);

const hasRows = ({ counts }: RunBody): boolean => {
  const differences = counts?.differences;
  if (!differences) return false;
  return differences.added + differences.removed + differences.changed + differences.new_unique_id > 0;
};

export const DIFFERENCES = [
  'added',
  'removed',
  'changed',
  'new_unique_id',
] as const satisfies readonly RunRowBody['difference'][];
const TITLES = ['added', 'removed', 'changed', 'new unique_id'];

/** A table with a line for each rule, or nothing if no rule has a message. */
function rulesText({ counts }: RunBody): string {
  const rules = counts?.by_rule ?? [];
  if (rules.length === 0) return '';
  return table(
    rules.map((rule) => [rule.rule, ...DIFFERENCES.map((name) => String(rule[name])), String(rule.unchanged)]),
    ['rule', ...TITLES, 'unchanged'],
  );
}

/** A table with a line for each day on which a message differs. */
function daysText({ counts }: RunBody): string {
  const days = counts?.by_day ?? [];
  if (days.length === 0) return '';
  return table(
    days.map((day) => [day.day, ...DIFFERENCES.map((name) => String(day[name]))]),
    ['day (UTC)', ...TITLES],
  );
}

export const RUN_COLUMNS = ['begun', 'run', 'kind', 'state', 'notifications', 'added', 'removed', 'by'] as const;

/** The cells of a run in a list; people who would get or lose a message, or `–` until they are counted. */
export function runCells({
  counts,
  created_at: at,
  created_by: by,
  id,
  kind,
  notifications,
  state,
}: RunBody): readonly string[] {
  const people = counts?.people;
  return [
    shortTime(at),
    id,
    kind,
    state,
    notifications.join(', '),
    people ? String(people.added) : '–',
    people ? String(people.removed) : '–',
    by.name ?? by.id,
  ];
}

export const ROW_COLUMNS = [
  'time',
  'difference',
  'slot',
  'rule',
  'channel',
  'person',
  'before',
  'after',
  'event',
] as const;

/** The cells of a row in a list. A person or address is `–` if the event is gone or the side sends nothing. */
export const rowCells = (row: RunRowBody): readonly string[] => [
  shortTime(row.at),
  row.cold ? `${row.difference}, uncertain` : row.difference,
  row.slot_state_words,
  row.rule,
  row.channel,
  row.person ?? '–',
  row.before ?? '–',
  row.after ?? '–',
  row.event,
];
