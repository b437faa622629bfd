import { describeReason } from '@carillon/domain/deliveries';
import {
  MAX_RUN_ROWS,
  type Row,
  type RowCounts,
  type CompareRun,
  type SideCounts,
  type SlotState,
} from '@carillon/domain/runs';
import { formatInstant } from '@carillon/kernel';
import { counted, rangeText } from './run-range.ts';

const people = (count: number): string => counted(count, 'person', 'people');

type Sides = Pick<CompareRun, 'before' | 'changes' | 'published'>;
type Described = Sides & Pick<CompareRun, 'from' | 'to' | 'createdAt' | 'counts' | 'notifications'>;

/** Names the sides of a run: an edit and what it was applied to, or two versions of the configuration. */
function sideNames({ before, changes, published }: Sides) {
  return changes.length > 0 || before === published
    ? {
        after: 'this edit',
        withoutIt: 'without it',
        onBoth: 'with the edit and without it',
        either: 'with or without this edit',
      }
    : {
        after: 'this version',
        withoutIt: `with configuration ${before}`,
        onBoth: 'by both versions',
        either: `with this version or with configuration ${before}`,
      };
}

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Returns the result of a run as one text, or null until its rows are counted. API, commands and portal show the same text. */
export function describeRun(run: Described): string | null {
  const rows = run.counts?.rows;
  if (!rows) return null;
  const names = sideNames(run);
  if (run.notifications.length === 0) {
    return `${capitalized(names.after)} changes no notification, so every message stays as it is.`;
  }
  return [`${rangeText(run)}, ${effectText(rows, names)}`, unchangedText(rows), notifiedText(rows)]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function effectText(
  { people: { added, removed, changed }, differences }: RowCounts,
  { after, either }: ReturnType<typeof sideNames>,
): string {
  const effects = [
    added > 0 ? `added messages for ${people(added)}` : '',
    removed > 0 ? `removed messages for ${added > 0 ? removed : people(removed)}` : '',
    changed > 0 ? `changed messages for ${added + removed > 0 ? changed : people(changed)}` : '',
  ].filter((effect) => effect !== '');
  const last = effects.pop();
  if (last !== undefined) {
    return `${after} would have ${effects.length === 0 ? last : `${effects.join(', ')} and ${last}`}.`;
  }
  if (differences.new_unique_id > 0) return `${after} would have added and removed no other messages.`;
  return differences.unchanged > 0
    ? `${after} would have changed no message.`
    : `no message would have been sent, ${either}.`;
}

function unchangedText({ differences }: RowCounts): string {
  const { unchanged } = differences;
  if (unchanged > 0) return `${counted(unchanged, 'message')} ${unchanged === 1 ? 'is' : 'are'} unchanged.`;
  const isEmpty = Object.values(differences).every((count) => count === 0);
  return isEmpty ? '' : 'No message is unchanged.';
}

function notifiedText({ people: { added }, notifiedPeople }: RowCounts): string {
  if (added === 0) return '';
  const notified = notifiedPeople.added;
  if (added === 1) return `This person was ${notified === 1 ? 'already' : 'not yet'} notified.`;
  if (notified === 0) return `None of the ${people(added)} was already notified.`;
  if (notified === added) return `All ${people(added)} were already notified.`;
  return `Of the ${people(added)}, ${notified} ${notified === 1 ? 'was' : 'were'} already notified.`;
}

/** Returns the warning shown before all numbers. Null if the edit does not change `unique_id`. */
export function describeRunWarning(run: Sides & Pick<CompareRun, 'counts'>): string | null {
  const rows = run.counts?.rows;
  if (!rows || rows.differences.new_unique_id === 0) return null;
  const notified = rows.notifiedPeople.new_unique_id;
  const change = `${capitalized(sideNames(run).after)} changes unique_id.`;
  if (notified === 0) return `${change} Nobody who was already notified would be notified again.`;
  const who = notified === 1 ? '1 person who was' : `${notified} people who were`;
  return `${change} ${who} already notified would be notified again.`;
}

/** Returns sentences about everything that the numbers of a run leave out. Empty if they leave nothing out. */
export function describeRunNotes(
  run: Sides & Pick<CompareRun, 'logStartsAt' | 'counts' | 'notCompared' | 'leftOut'>,
): readonly string[] {
  const { logStartsAt, counts, notCompared, leftOut } = run;
  const notes: string[] = [];
  if (logStartsAt !== null)
    notes.push(`The log starts at ${formatInstant(logStartsAt)}. Earlier events are not compared.`);
  if (notCompared.length > 0) {
    notes.push(`Not compared: ${namesOf(notCompared)}. Recorded events and answers stay as they are.`);
  }
  if (leftOut.length > 0) notes.push(`Drafts of other people that have mistakes are left out: ${namesOf(leftOut)}.`);
  if (!counts) return notes;
  const names = sideNames(run);
  const { needsLookup, noAddress, pastRetention, ruleErrors, unreadable, cold = NONE, wouldWait = NONE } = counts.read;
  if (needsLookup > 0) {
    notes.push(
      `${counted(needsLookup, 'event')} ${needsLookup === 1 ? 'needs' : 'need'} a lookup: no recorded answer says who is notified ${names.onBoth}.`,
    );
  }
  notes.push(...sideNotes(noAddress, names, 'message', 'without a valid address'));
  notes.push(...sideNotes(ruleErrors, names, 'evaluation', 'that ended in an error'));
  if (wouldWait.before + wouldWait.after > 0) {
    notes.push(`Waits that end after the time range: ${perSide(wouldWait, names)}. Their messages are not compared.`);
  }
  if (cold.before + cold.after > 0) {
    notes.push(`Uncertain messages: ${perSide(cold, names)}. Earlier events of the same entity were not read.`);
  }
  if (unreadable > 0) notes.push(`${counted(unreadable, 'event')} cannot be parsed.`);
  if (pastRetention > 0) notes.push(`Retention removed ${counted(pastRetention, 'event')} during the run.`);
  const rows = rowsOf(counts.rows);
  if (rows > MAX_RUN_ROWS) {
    notes.push(
      `The list has the first ${MAX_RUN_ROWS} of ${rows} messages. Narrow the run by time or notification to see the rest.`,
    );
  }
  return notes;
}

const NONE: SideCounts = { before: 0, after: 0 };

const namesOf = (resources: CompareRun['leftOut']): string =>
  resources.map(({ kind, name }) => (name === '' ? `${kind} settings` : `${kind} ${name}`)).join(', ');

const sideNotes = (
  { before, after }: SideCounts,
  names: ReturnType<typeof sideNames>,
  noun: string,
  what: string,
): readonly string[] =>
  before + after === 0 ? [] : [`${counted(after, noun)} ${what} with ${names.after}, ${before} ${names.withoutIt}.`];

const perSide = ({ before, after }: SideCounts, names: ReturnType<typeof sideNames>): string =>
  `${after} with ${names.after}, ${before} ${names.withoutIt}`;

function rowsOf(rows: RowCounts | null): number {
  if (!rows) return 0;
  const { unchanged: _unchanged, ...different } = rows.differences;
  return Object.values(different).reduce((sum, count) => sum + count, 0);
}

const SLOT_STATE_TEXT: Readonly<Record<SlotState, string>> = {
  notified: 'already notified',
  waiting: 'waiting to be sent',
  stopped: 'not sent',
  none: 'never sent',
};

/** Returns the slot state of a row and its reason in words. */
export const describeSlotState = ({ slotState, slotReason }: Pick<Row, 'slotState' | 'slotReason'>): string =>
  slotReason === null ? SLOT_STATE_TEXT[slotState] : `${SLOT_STATE_TEXT[slotState]}: ${describeReason(slotReason)}`;
