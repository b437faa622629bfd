import { ruleTitle } from '@carillon/domain/configuration';
import type { Evaluation } from '@carillon/domain/events';
import type { Lookup } from '@carillon/domain/lookups';
import { whoIsDropped, type Dropped } from '@carillon/domain/rules';
import type { Instant } from '@carillon/kernel';
import type { ConfigurationView, EventLog, Ids, RecordCodecs, EventLoopSlice } from '@carillon/ports';
import {
  readSourceRecord,
  evaluateEventCoroutine,
  type EvaluatedRule,
  type RuleBook,
  runYielding,
  resolveLookupCoroutine,
} from '@carillon/stages';
import { newestRecords } from './newest-records.ts';

/** A recipient whom a rule dropped for another reason than its `where` condition. */
export type DropRow = {
  readonly at: Instant;
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly eventId: string;
  /** Dropped recipients, such as `recipient 3`, `user ids 501 to 612`, `item 2`, `everybody`. */
  readonly who: string;
  readonly reason: string;
  /** Explanation without any address. */
  readonly detail: string;
  readonly count: number;
  /** Number of people the same event and rule notified or looked up. */
  readonly told: number;
};

/** Cursor of a page of drops: the source of its last row, and the number of rows returned from it. */
export type DropsPlace = { readonly at: Instant; readonly id: string; readonly told: number };

export type DropsWanted = {
  readonly since: Instant;
  readonly before?: Instant;
  /** Defaults to all workspaces. */
  readonly isMeant?: (workspace: string) => boolean;
  readonly after?: DropsPlace | undefined;
};

export type Drops = {
  /** Newest first, by evaluation time. */
  readonly rows: readonly DropRow[];
  /** Cursor of the next page. Null if there is none or the read limit was reached. */
  readonly next: DropsPlace | null;
  /** False if there may be older drops. */
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

/** Events evaluated again for one request. */
const MAX_EVENTS = 2000;

/** A source of drops with its reader. Ids are unique. */
type Place = {
  readonly at: Instant;
  readonly id: string;
  readonly find: () => Promise<readonly DropRow[]>;
  readonly events: number;
};
const newestFirst = (a: Pick<Place, 'at' | 'id'>, b: Pick<Place, 'at' | 'id'>): number =>
  b.at - a.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * Lists dropped recipients since a time, newest first, of one or all workspaces. Nothing is stored for this: evaluation
 * records name the batches with drops, and their events are evaluated again, which gives the same result (promise 6).
 */
export async function findDrops(
  { since, before = Number.POSITIVE_INFINITY, isMeant = () => true, after }: DropsWanted,
  limit: number,
  ports: DropPorts,
): Promise<Drops> {
  const evaluations = await newestRecords('carillon.evaluations', ports.codecs.evaluation, since, ports.log);
  const lookups = await newestRecords('carillon.lookups', ports.codecs.lookup, since, ports.log);
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
    // A repeated evaluation drops the same recipients in the same order.
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
    // Retention removed the records.
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

/** Drops by `where` are intended, so they are not listed. */
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
  // If the rule was removed, the answer is a dead letter.
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
