import { formatInstant, type Instant } from '@carillon/kernel';
import type { SourcePosition } from './source-position.ts';
import {
  stoppedReasonOf,
  type SourceProblem,
  type SourceState,
  type StoppedReason,
  type TableReason,
  type WaitingReason,
} from './source-state.ts';

/** What is wrong, and what ends it. */
type Words = { readonly what: string; readonly end: string };

const WAITING: Readonly<Record<WaitingReason, Words>> = {
  unreachable: { what: 'the database does not answer', end: 'Carillon retries until it answers.' },
  refused_login: {
    what: 'the database refuses user or password',
    end: 'Store the right URL in the secret that the integration names.',
  },
  refused_address: {
    what: 'Carillon may not connect to the address of the database',
    end: 'Allow it with this line and restart Carillon, or use another address.',
  },
  refused_certificate: {
    what: 'the certificate of the database is not trusted',
    end: 'Store the certificate of its authority as a secret and name the secret in tls.ca.',
  },
  pooler: {
    what: 'the address leads to a connection pooler, which does not pass on replication',
    end: 'Use the address of the database itself.',
  },
  standby: { what: 'the server is a standby', end: 'Use the address of the primary.' },
  not_logical: {
    what: 'the setting wal_level of the database is not logical',
    end: 'Run this SQL, then restart PostgreSQL.',
  },
  may_not_replicate: {
    what: 'the role may not replicate',
    end: 'Let an administrator of the database run this SQL.',
  },
  may_not_publish: {
    what: 'the role may not create the publication',
    end: 'Let an administrator of the database run this SQL.',
  },
  no_slot_free: {
    what: 'all replication slots of the server are taken',
    end: 'Drop an unused slot, or raise max_replication_slots.',
  },
  making_slot: {
    what: 'an open transaction blocks the new replication slot',
    end: 'PostgreSQL makes the slot when that transaction ends.',
  },
  in_use: { what: 'another process reads the replication slot', end: 'Stop that process.' },
  log_full: { what: 'the log of Carillon has no space', end: 'Free space on the disk of Carillon.' },
  carillon_failed: {
    what: 'Carillon itself failed while it read the changes',
    end: 'Carillon retries. The log of the engine has the error.',
  },
};

/** Where a reset continues: at the slot that is there, or at a publication and slot that are made then. */
export type ResetStart = 'slot' | 'now';

const STOPPED: Readonly<Record<StoppedReason, { readonly what: string; readonly continues: ResetStart }>> = {
  slot_lost: { what: 'PostgreSQL deleted WAL that the slot needs', continues: 'now' },
  slot_gone: { what: 'the slot was dropped', continues: 'now' },
  publication_gone: { what: 'the publication was dropped or made again', continues: 'now' },
  slot_ahead: {
    what: 'the slot is beyond the position that Carillon saved, as after a restored backup of Carillon',
    continues: 'slot',
  },
  other_database: {
    what: 'the URL leads to another database; if that is a mistake, correct the URL first',
    continues: 'slot',
  },
  went_back: {
    what: 'the database was set back to before the position that Carillon saved, as by a restored backup or a failover',
    continues: 'now',
  },
};

const TABLE: Readonly<Record<TableReason, { readonly what: (table: string) => string; readonly end: string }>> = {
  no_table: {
    what: (table) => `no table is called ${table}`,
    end: 'Create it, or remove it from the stream.',
  },
  is_view: {
    what: (table) => `the view ${table} has no changes of its own`,
    end: 'Name the tables behind it.',
  },
  is_partition: {
    what: (table) =>
      `the partition ${table} belongs to a table that is read too, so its changes arrive under the name of that table`,
    end: 'Remove it from the stream.',
  },
  no_identity: {
    what: (table) =>
      `the table ${table} has neither a primary key nor a replica identity; if it were published, its UPDATEs would fail`,
    end: 'Run this SQL.',
  },
  not_published: {
    what: (table) => `Carillon may not add ${table} to its publication`,
    end: 'Let the owner of the table run this SQL.',
  },
};

/** A stored source, as far as its words need it. */
export type DescribedSource = {
  readonly workspace: string;
  readonly integration: string;
  readonly state: SourceState;
  readonly position: Pick<SourcePosition, 'at'> | null;
  readonly tables: readonly { readonly problem: SourceProblem<TableReason> | null }[];
  readonly reset: { readonly at: Instant } | null;
};

export type SourceWords = {
  readonly state: SourceState['kind'];
  readonly reason: WaitingReason | StoppedReason | null;
  /** What is wrong and what ends it. */
  readonly sentence: string;
  /** SQL, command or configuration line that ends the state. Null if nothing has to be run. */
  readonly fix: string | null;
};

/** Returns the command that resets a source. `TEXT` stands for the reason. */
export const resetCommand = ({ workspace, integration, state }: DescribedSource): string =>
  `npx carillon sources reset ${integration} --workspace ${workspace}${state.kind === 'leaving' ? ' --gone' : ''} --reason TEXT`;

/** Returns the state of a source in the words that API, commands, doctor and portal show. Times are UTC. */
export function describeSource(source: DescribedSource, now: Instant): SourceWords {
  const { state, tables, reset } = source;
  const { kind } = state;
  if (kind === 'running') return { state: kind, reason: null, sentence: runningText(tables), fix: null };
  if (kind === 'waiting')
    return { state: kind, reason: state.reason, sentence: describeWaiting(state), fix: state.fix };
  const reason = kind === 'stopped' ? state.reason : null;
  if (reset) {
    const what = `a reset was requested at ${timeText(reset.at, now)}`;
    const end = 'Carillon carries it out as soon as the database answers.';
    return { state: kind, reason, sentence: sentenceOf(what, state.detail, end), fix: state.fix };
  }
  if (kind === 'leaving') return { state: kind, reason, sentence: leavingText(source, now), fix: state.fix };
  return { state: kind, reason, sentence: stoppedText(source, state, now), fix: state.fix ?? resetCommand(source) };
}

/** Returns what a source waits for, as one or two sentences. */
export const describeWaiting = ({ reason, detail }: SourceProblem<WaitingReason>): string =>
  sentenceOf(WAITING[reason].what, detail, WAITING[reason].end);

/** Returns why a table is not read, as one or two sentences. */
export const describeTable = (table: string, { reason, detail }: SourceProblem<TableReason>): string =>
  sentenceOf(TABLE[reason].what(table), detail, TABLE[reason].end);

/** Returns where a reset of a source in this state continues. Null if it continues nowhere, or cannot be reset. */
export const resetStart = (state: SourceState): ResetStart | null =>
  state.kind === 'stopped' ? STOPPED[state.reason].continues : null;

/** Returns what a reset passes over, for the person who confirms it. Null if the source cannot be reset. */
export function describeSpan({ state, position }: DescribedSource, now: Instant): string | null {
  if (state.kind === 'leaving') {
    return 'Carillon forgets this source. If its replication slot still exists, it keeps WAL until the disk of the database is full.';
  }
  if (state.kind !== 'stopped') return null;
  const from = position === null ? 'Changes' : `Changes from ${timeText(position.at, now)}`;
  return `${from} to ${STOPPED[state.reason].continues === 'now' ? 'the moment of the reset' : 'the position of the slot'} will never be read.`;
}

/** Returns what a reset passes over, with positions and times in full, as the audit keeps it. */
export function spanOnAudit({ state, position }: SpanOnAudit, now: Instant): string {
  const from =
    position === null ? 'no position' : `${position.lsn} (${formatInstant(position.at)}) of ${position.slot}`;
  if (state.kind === 'leaving') return `forgets the position ${from}`;
  const start =
    resetStart(state) === 'slot' ? 'the position of that slot' : `a new slot (${formatInstant(now)} or later)`;
  return `not read from ${from} to ${start}`;
}

/** Returns what a reset that is done passed over, as the audit keeps it. */
export const describeDoneReset = (from: SourcePosition, to: SourcePosition): string =>
  `not read from ${from.lsn} (${formatInstant(from.at)}) to ${to.lsn} (${formatInstant(to.at)}) of ${to.slot}`;

/** Returns what a stopped source whose integration was removed has not read, as the audit keeps it. */
export const describeLeft = (position: SourcePosition | null): string =>
  position === null
    ? 'not read at all'
    : `not read after ${position.lsn} (${formatInstant(position.at)}) of ${position.slot}`;

type SpanOnAudit = {
  readonly state: SourceState;
  readonly position: Pick<SourcePosition, 'lsn' | 'at' | 'slot'> | null;
};

function runningText(tables: DescribedSource['tables']): string {
  const unread = tables.filter(({ problem }) => problem !== null).length;
  if (unread === 0) return 'Carillon reads the changes.';
  return `Carillon reads the changes, except those of ${unread} of ${tables.length} tables.`;
}

function stoppedText(
  { integration, position }: DescribedSource,
  { reason, detail }: SourceProblem<StoppedReason>,
  now: Instant,
): string {
  const { what, continues } = STOPPED[reason];
  const since = position === null ? 'Changes' : `Changes since ${timeText(position.at, now)}`;
  const end = `\`carillon sources reset ${integration} --reason "…"\` begins again ${continues === 'now' ? 'now' : 'at the slot'}.`;
  return sentenceOf(`${since} were not read: ${what}`, detail, end);
}

function leavingText({ integration, state, position }: DescribedSource, now: Instant): string {
  const what = 'the source was removed from the configuration, but its replication slot could not be dropped';
  const end =
    'Until somebody drops it, the slot keeps WAL. Carillon retries. ' +
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

/** Such as `09:12:04 UTC`, with its day if that is another day than now. */
function timeText(at: Instant, now: Instant): string {
  const [day = '', time = ''] = formatInstant(at).split('T');
  const clock = `${time.slice(0, 8)} UTC`;
  return formatInstant(now).startsWith(day) ? clock : `${day} ${clock}`;
}
