import { ruleTitle } from '@carillon/domain/configuration';
import type { Evaluation } from '@carillon/domain/events';
import type { Lookup } from '@carillon/domain/lookups';
import { whoIsDropped, type Dropped } from '@carillon/domain/rules';
import type { Instant } from '@carillon/kernel';
import type {
  ConfigurationView,
  EventLog,
  Ids,
  RecordCodec,
  RecordCodecs,
  TopicName,
  EventLoopSlice,
} from '@carillon/ports';
import {
  readSourceRecord,
  decodeRecords,
  evaluateEventCoroutine,
  type EvaluatedRule,
  type RuleBook,
  runYielding,
  resolveLookupCoroutine,
} from '@carillon/stages';

/** Somebody whom a rule was to tell and did not, although no condition left him out. */
export type DropRow = {
  readonly at: Instant;
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly eventId: string;
  /** `recipient 3`, `user ids 501 to 612`, `item 2`, `everybody`. */
  readonly who: string;
  readonly reason: string;
  /** Text for people. It quotes no address. */
  readonly detail: string;
  readonly count: number;
  /** How many the same event and rule did tell, or ask about. */
  readonly told: number;
};

/** Where a page of drops ended: in which place of the log, and how many of its rows were told. */
export type DropsPlace = { readonly at: Instant; readonly id: string; readonly told: number };

export type DropsWanted = {
  readonly since: Instant;
  readonly before?: Instant;
  /** Left out: all. */
  readonly isMeant?: (workspace: string) => boolean;
  readonly after?: DropsPlace | undefined;
};

export type Drops = {
  /** The newest first, by when they were judged. */
  readonly rows: readonly DropRow[];
  /** Where the next page goes on; null: there is none, or the log was not looked at any further. */
  readonly next: DropsPlace | null;
  /** False: there may be more, before these. */
  readonly complete: boolean;
};

export type DropPorts = {
  readonly log: EventLog;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'lookup' | 'evaluation'>;
  readonly ids: Pick<Ids, 'derive'>;
  readonly book: RuleBook;
  readonly slice: EventLoopSlice;
};

/** Records that are looked at in each partition, the newest ones: batches of the evaluation, answers of partners. */
const MAX_RECORDS = 1000;
const BATCH_SIZE = 250;
/** Events that are judged again for one question. */
const MAX_EVENTS = 2000;

/** Where drops may be found, and how to find them there. No two have the same `id`. */
type Place = {
  readonly at: Instant;
  readonly id: string;
  readonly find: () => Promise<readonly DropRow[]>;
  readonly events: number;
};
const newestFirst = (a: Pick<Place, 'at' | 'id'>, b: Pick<Place, 'at' | 'id'>): number =>
  b.at - a.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * Who was dropped since a time, newest first, by all rules of a workspace or of all. Nothing is kept for this: what the engine noted of its
 * batches says where to look, and those events are judged again, which gives the same answer for ever (promise 6).
 */
export async function findDrops(
  { since, before = Number.POSITIVE_INFINITY, isMeant = () => true, after }: DropsWanted,
  limit: number,
  ports: DropPorts,
): Promise<Drops> {
  const evaluations = await newest('carillon.evaluations', ports.codecs.evaluation, since, ports.log);
  const lookups = await newest('carillon.lookups', ports.codecs.lookup, since, ports.log);
  const places: Place[] = [
    ...evaluations.found.flatMap((evaluation): Place[] => {
      const rules = evaluation.rules.filter((rule) => rule.sampleError !== null && isMeant(rule.workspace));
      if (rules.length === 0) return [];
      const named = new Set(rules.map((rule) => [rule.workspace, rule.rule].join('\n')));
      const find = (): Promise<readonly DropRow[]> => evaluateAgain(evaluation, named, ports);
      const { at, partition, from, to } = evaluation;
      return [{ at, id: `events ${partition} ${from}`, events: to - from, find }];
    }),
    ...lookups.found
      .filter(({ trigger }) => isMeant(trigger.workspace))
      .map((lookup): Place => {
        const find = (): Promise<readonly DropRow[]> => resolveAgain(lookup, ports);
        return { at: lookup.answeredAt, id: `lookup ${lookup.trigger.id} ${lookup.callId}`, events: 1, find };
      }),
  ];
  const isTold = (place: Place): boolean => after !== undefined && newestFirst(place, after) < 0;
  const rows: DropRow[] = [];
  let left = MAX_EVENTS;
  let next: DropsPlace | null = null;
  for (const place of places.toSorted(newestFirst)) {
    if (isTold(place)) continue;
    const { at, id } = place;
    const told = id === after?.id ? after.told : 0;
    if (rows.length >= limit || left <= 0) {
      next = { at, id, told };
      break;
    }
    left -= place.events;
    // Judged again, the same is dropped in the same order.
    const found = (await place.find()).filter((row) => row.at >= since && row.at < before);
    const shown = found.toSorted((a, b) => b.at - a.at).slice(told, told + limit - rows.length);
    rows.push(...shown);
    if (told + shown.length < found.length) {
      next = { at, id, told: told + shown.length };
      break;
    }
  }
  return { rows, next, complete: next === null && evaluations.complete && lookups.complete };
}

/** Records of all partitions of a topic since a time; those that cannot be read are dead letters, and left out here. */
async function newest<T>(
  topic: TopicName,
  codec: RecordCodec<T>,
  since: Instant,
  log: EventLog,
): Promise<{ readonly found: readonly T[]; readonly complete: boolean }> {
  const found: T[] = [];
  let complete = true;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { start, end } = await log.bounds(topic, partition);
    const first = Math.max(start, end - MAX_RECORDS);
    let isOlder = first === start;
    for (let to = end; to > first; to -= BATCH_SIZE) {
      const from = Math.max(first, to - BATCH_SIZE);
      const records = (await log.read(topic, partition, from, to - from)).filter(({ offset }) => offset < to);
      const recent = records.filter(({ time }) => time >= since);
      for (const { decoded } of await decodeRecords(codec, recent)) if (decoded.ok) found.push(decoded.value);
      if (recent.length === records.length) continue;
      isOlder = true;
      break;
    }
    if (!isOlder) complete = false;
  }
  return { found, complete };
}

async function evaluateAgain(
  { partition, from, to, configNumber }: Evaluation,
  named: ReadonlySet<string>,
  { log, configuration, book, ids, slice }: DropPorts,
): Promise<readonly DropRow[]> {
  const rows: DropRow[] = [];
  const then = await configuration.at(configNumber);
  for (let next = from; next < to;) {
    const records = await log.read('carillon.events', partition, next, to - next);
    const last = records.at(-1);
    // Retention took them.
    if (!last) break;
    for (const record of records) {
      if (record.offset >= to) break;
      const read = readSourceRecord(record, log.logId);
      if (!read.ok || read.value.kind !== 'event') continue;
      const { event } = read.value;
      for (const evaluated of await runYielding(evaluateEventCoroutine(event, then, book, ids.derive), slice)) {
        const { workspace } = evaluated.placed;
        const rule = ruleTitle(evaluated.placed);
        if (!named.has([workspace, rule].join('\n'))) continue;
        rows.push(
          ...dropsOf(evaluated).map((drop) => ({ at: record.time, workspace, rule, eventId: event.id, ...drop })),
        );
      }
    }
    next = last.offset + 1;
  }
  return rows;
}

type Left = Pick<DropRow, 'who' | 'reason' | 'detail' | 'count' | 'told'>;

function dropsOf({ outcome }: EvaluatedRule): readonly Left[] {
  switch (outcome.kind) {
    case 'disabled':
    case 'not_fired':
      return [];
    case 'failed':
      return [{ who: 'everybody', reason: outcome.reason, detail: outcome.error, count: 1, told: 0 }];
    case 'asks':
      return leftOut('user id', outcome.dropped, outcome.userIds.length);
    case 'fired':
      return leftOut('recipient', outcome.dropped, outcome.recipients.length);
  }
}

/** What `where` leaves out is meant to be. */
const leftOut = (what: string, dropped: readonly Dropped[], told: number): readonly Left[] =>
  dropped
    .filter(({ reason }) => reason !== 'where_false')
    .map((drop) => ({
      who: whoIsDropped(what, drop),
      reason: drop.reason,
      detail: drop.detail,
      count: drop.count,
      told,
    }));

async function resolveAgain(
  lookup: Lookup,
  { configuration, book, ids, slice }: DropPorts,
): Promise<readonly DropRow[]> {
  const { trigger, problems, answeredAt: at } = lookup;
  const then = await configuration.at(trigger.configNumber);
  const resolved = await runYielding(resolveLookupCoroutine(lookup, then, book, ids.derive), slice);
  // A rule that is gone makes a dead letter.
  if (!resolved.ok) return [];
  const { rule, recipients, dropped } = resolved.value;
  const told = recipients.length;
  const invalid = problems
    .filter(({ kind }) => kind === 'invalid' || kind === 'invalid_address' || kind === 'too_many')
    .map(({ kind, index, detail }): Left => ({
      who: index === null ? 'an item' : `item ${index + 1}`,
      reason: kind === 'too_many' ? 'too_many_recipients' : kind === 'invalid' ? 'invalid_item' : kind,
      detail,
      count: 1,
      told,
    }));
  const named = { at, workspace: trigger.workspace, rule, eventId: trigger.eventId };
  return [...invalid, ...leftOut('item', dropped, told)].map((left) => ({ ...named, ...left }));
}
