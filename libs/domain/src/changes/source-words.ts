import { formatInstant, type Instant } from '@carillon/kernel';
import { REASON_WORDS, type ResetStart } from './reason-words.ts';
import {
  readUntil,
  type KafkaPosition,
  type SourceKind,
  type SourcePosition,
  type TopicStart,
} from './source-position.ts';
import {
  stoppedReasonOf,
  type SourceProblem,
  type SourceState,
  type StoppedReason,
  type TableGap,
  type TableReason,
  type WaitingReason,
} from './source-state.ts';

type DescribedTable = {
  readonly table: string;
  readonly problem: SourceProblem<TableReason> | null;
  readonly lagRecords?: number;
};

/** A stored source, as far as its words need it. */
export type DescribedSource = {
  readonly workspace: string;
  readonly integration: string;
  readonly kind: SourceKind;
  readonly state: SourceState;
  readonly position: Pick<SourcePosition, 'at'> | null;
  readonly tables: readonly DescribedTable[];
  readonly reset: { readonly at: Instant } | null;
  /** Unread records. If the source is stopped: records that the topics held then. Absent or null if that is not known. */
  readonly lagRecords?: number | null;
};

export type SourceWords = {
  readonly state: SourceState['kind'];
  readonly reason: WaitingReason | StoppedReason | null;
  /** Text of the problem and its solution. */
  readonly sentence: string;
  /** SQL, command or configuration line that ends the state. Null if nothing has to be run. */
  readonly fix: string | null;
};

/** Returns the command that resets a source. `TEXT` stands for the reason. */
export const resetCommand = ({ workspace, integration, state }: DescribedSource): string =>
  `npx carillon sources reset ${integration} --workspace ${workspace}${state.kind === 'leaving' ? ' --gone' : ''} --reason TEXT`;

/** Returns the state of a source in the words that API, commands, doctor and portal show. Times are UTC. */
export function describeSource(source: DescribedSource, now: Instant): SourceWords {
  const { state, reset } = source;
  const { kind } = state;
  if (kind === 'running') return { state: kind, reason: null, sentence: runningText(source), fix: null };
  const reason = kind === 'leaving' ? null : state.reason;
  // A request that was made in another state is dropped.
  if (kind === 'waiting' && !(reset && canPassOver(source)))
    return { state: kind, reason: state.reason, sentence: waitingText(source, state), fix: state.fix };
  if (reset) {
    const what = `a reset was requested at ${timeText(reset.at, now)}`;
    const end = `Carillon carries it out as soon as the ${source.kind === 'kafka' ? 'Kafka cluster' : 'database'} answers.`;
    return { state: kind, reason, sentence: sentenceOf(what, state.detail, end), fix: state.fix };
  }
  if (kind !== 'stopped') return { state: kind, reason, sentence: leavingText(source, now), fix: state.fix };
  return { state: kind, reason, sentence: stoppedText(source, state, now), fix: state.fix ?? resetCommand(source) };
}

/** Returns true if a reset may let the source skip its unread records, because a schema of them may be lost. */
export const canPassOver = ({ state }: Pick<DescribedSource, 'state'>): boolean =>
  state.kind === 'waiting' && state.reason === 'schema_unknown';

/** Returns the only topic that a reset passes over. Null: all of the source. */
const passedTopic = (state: SourceState): string | null => (state.kind === 'waiting' ? (state.topic ?? null) : null);

/** Returns the unread records of what a reset passes over. */
function lagOf({ state, tables, lagRecords }: Pick<DescribedSource, 'state' | 'tables' | 'lagRecords'>) {
  const topic = passedTopic(state);
  if (topic === null) return { lagRecords };
  return { lagRecords: tables.find(({ table }) => table === topic)?.lagRecords };
}

function unreadText({ state }: DescribedSource): string {
  const topic = passedTopic(state);
  return topic === null ? 'all unread records' : `the unread records of the topic ${topic}`;
}

function waitingText(source: DescribedSource, state: SourceProblem<WaitingReason>): string {
  const sentence = describeWaiting(source.kind, state);
  if (!canPassOver(source)) return sentence;
  return `${sentence} If it is gone for good, \`carillon sources reset ${source.integration} --from end --reason "…"\` passes over ${unreadText(source)}.`;
}

/** Returns what a source waits for, as one or two sentences. */
export function describeWaiting(kind: SourceKind, { reason, detail }: SourceProblem<WaitingReason>): string {
  const { what, end } = REASON_WORDS[kind].waiting[reason];
  return sentenceOf(what, detail, end);
}

/** Returns why a table or topic is not read, as one or two sentences. */
export function describeTable(table: string, { reason, detail }: SourceProblem<TableReason>): string {
  // A reason of a table belongs to one kind.
  const { what, end } = REASON_WORDS.postgres.table[reason];
  return sentenceOf(what(table), detail, end);
}

/** Returns which changes of a table were not read, as a sentence. */
export function describeTableGap({ from, to }: TableGap, now: Instant): string {
  const start = timeText(from, now);
  return to === null
    ? `Changes since ${start} are not read.`
    : `Changes from ${start} to ${timeText(to, now)} were not read.`;
}

/** Returns where a reset of a source in this state continues. Null if it continues nowhere, or cannot be reset. */
export const resetStart = ({ kind, state }: Pick<DescribedSource, 'kind' | 'state'>): ResetStart | null =>
  state.kind === 'stopped' ? REASON_WORDS[kind].stopped[state.reason].continues : null;

/**
 * Returns what a reset passes over, for the person who confirms it. Null if the source cannot be reset. `start`: where a Kafka
 * source continues.
 */
export function describeSpan(source: DescribedSource, now: Instant, start: TopicStart = 'oldest'): string | null {
  const { state, position } = source;
  if (state.kind === 'leaving') {
    return 'Carillon forgets this source. If its replication slot still exists, it keeps WAL until the disk of the database is full.';
  }
  if (canPassOver(source) && start === 'end') {
    const topic = passedTopic(state);
    const [holder, end] =
      topic === null ? ['The topics have', ''] : [`The topic ${topic} has`, ' Other topics are read on.'];
    return `${holder} ${recordsText(lagOf(source))} that Carillon has not read. None of them will be read, only those that are written after the reset.${end}`;
  }
  if (state.kind !== 'stopped') return null;
  const continues = resetStart(source);
  if (continues === 'oldest') {
    const held = `The topics held ${recordsText(source)} when the source stopped.`;
    if (start === 'end') return `${held} None of them will be read, only those that are written after the reset.`;
    return `${held} All that they still hold will be read, the others never.`;
  }
  const from = position === null ? 'Changes' : `Changes from ${timeText(position.at, now)}`;
  return `${from} to ${continues === 'now' ? 'the moment of the reset' : 'the position of the slot'} will never be read.`;
}

/** Returns what a reset passes over, with positions and times in full, as the audit keeps it. */
export function spanOnAudit(source: SpanOnAudit, now: Instant): string {
  const { state, position } = source;
  const from = position === null ? 'no position' : positionText(position);
  if (state.kind === 'leaving') return `forgets the position ${from}`;
  if (source.kind === 'kafka') {
    const topic = passedTopic(state);
    const verb = state.kind === 'stopped' ? 'held' : 'had unread';
    const things = topic === null ? 'the topics' : `the topic ${topic}`;
    const start = `${source.start === 'end' ? 'end' : 'oldest record'} of ${things}, which ${verb}`;
    return `read up to ${from}; continues at the ${start} ${recordsText(lagOf(source))}`;
  }
  const start =
    resetStart(source) === 'slot' ? 'the position of that slot' : `a new slot (${formatInstant(now)} or later)`;
  return `not read from ${from} to ${start}`;
}

/** Returns what a reset that is done passed over, as the audit keeps it. */
export function describeDoneReset(from: SourcePosition, to: SourcePosition): string {
  if (!('slot' in from) || !('slot' in to)) {
    return `read up to ${positionText(from)}; continues at ${positionText(to)}`;
  }
  return `not read from ${from.lsn} (${formatInstant(from.at)}) to ${to.lsn} (${formatInstant(to.at)}) of ${to.slot}`;
}

/** Returns what a stopped source whose integration was removed has not read, as the audit keeps it. */
export const describeLeft = (position: SourcePosition | null): string =>
  position === null ? 'not read at all' : `not read after ${positionText(position)}`;

type SpanOnAudit = Pick<DescribedSource, 'kind' | 'state' | 'tables' | 'lagRecords'> & {
  readonly position: SourcePosition | null;
  /** Where the reset of a Kafka source begins. Defaults to the oldest record. */
  readonly start?: TopicStart;
};

/** Partitions that a text names. */
const MAX_NAMED_PARTITIONS = 20;

function positionText(position: SourcePosition): string {
  const until = readUntil(position);
  const at = until === null ? '' : ` (${formatInstant(until)})`;
  return 'slot' in position
    ? `${position.lsn}${at} of ${position.slot}`
    : `${offsetsText(position)}${at} of the cluster ${position.clusterId}`;
}

/** Such as `orders/0:120, orders/1:7`. */
function offsetsText({ topics }: KafkaPosition): string {
  const offsets = Object.entries(topics).flatMap(([topic, { partitions }]) =>
    Object.entries(partitions).map(([partition, offset]) => `${topic}/${partition}:${offset}`),
  );
  const more = offsets.length - MAX_NAMED_PARTITIONS;
  const named = offsets.slice(0, MAX_NAMED_PARTITIONS).join(', ');
  return offsets.length === 0 ? 'no record' : more > 0 ? `${named} and ${more} more partitions` : named;
}

function recordsText({ lagRecords }: { readonly lagRecords?: number | null | undefined }): string {
  if (lagRecords === undefined || lagRecords === null) return 'an unknown number of records';
  return lagRecords === 1 ? '1 record' : `${lagRecords} records`;
}

function runningText({ kind, tables }: DescribedSource): string {
  const [things, places] = kind === 'kafka' ? ['records', 'topics'] : ['changes', 'tables'];
  const unread = tables.filter(({ problem }) => problem !== null).length;
  if (unread === 0) return `Carillon reads the ${things}.`;
  return `Carillon reads the ${things}, except those of ${unread} of ${tables.length} ${places}.`;
}

const BEGINNINGS: Readonly<Record<ResetStart, string>> = {
  now: 'begins again now.',
  slot: 'begins again at the slot.',
  oldest: 'begins again at the oldest record of the topics, or with `--from end` at their end.',
};

function stoppedText(source: DescribedSource, problem: SourceProblem<StoppedReason>, now: Instant): string {
  const { integration, kind, position } = source;
  const { what, continues } = REASON_WORDS[kind].stopped[problem.reason];
  const until = readUntil(position);
  const changes = until === null ? 'Changes' : `Changes since ${timeText(until, now)}`;
  const since = kind === 'kafka' ? 'Records' : changes;
  // Each partition has a separate newest record.
  const newest = kind === 'kafka' && until !== null ? `No record after ${timeText(until, now)} was read. ` : '';
  const end = `${newest}\`carillon sources reset ${integration} --reason "…"\` ${BEGINNINGS[continues]}`;
  return sentenceOf(`${since} were not read: ${what}`, problem.detail, end);
}

function leavingText({ integration, state, position }: DescribedSource, now: Instant): string {
  const what = 'the database is no longer in the configuration, but its replication slot could not be dropped';
  const end =
    'Until it is dropped, the slot keeps WAL. Carillon retries. ' +
    `If the database is gone or this SQL has been run: \`carillon sources reset ${integration} --gone --reason "…"\`.`;
  const unread =
    stoppedReasonOf(state) === null || position === null
      ? ''
      : ` Changes since ${timeText(position.at, now)} were not read.`;
  return sentenceOf(what, state.kind === 'leaving' ? state.detail : null, end) + unread;
}

function sentenceOf(what: string, detail: string | null, end = ''): string {
  const more = detail === null || detail === '' ? '' : ` (${detail.replace(/\.$/, '')})`;
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)}${more}. ${end}`.trimEnd();
}

/** Returns a time such as `09:12:04 UTC`, with the day if it is not the day of `now`. */
function timeText(at: Instant, now: Instant): string {
  const [day = '', time = ''] = formatInstant(at).split('T');
  const clock = `${time.slice(0, 8)} UTC`;
  return formatInstant(now).startsWith(day) ? clock : `${day} ${clock}`;
}
