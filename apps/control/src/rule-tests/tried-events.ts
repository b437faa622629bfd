import {
  ruleIdOf,
  streamTable,
  type Configuration,
  type EventStream,
  type PlacedRule,
} from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import type { EntityMemory } from '@carillon/domain/rules';
import { CarillonError, formatInstant, type EventId, type Instant } from '@carillon/kernel';
import { keyPathOf, readMoment, readWrittenEvent, triedEvent, withEntity } from '@carillon/insight';
import { loadMemory, readSourceRecord } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { lacking } from '../access/guard.ts';
import type { Permission } from '../access/permission.ts';
import { principalOf, type Principal } from '../access/principal.ts';
import { visibleScopeOf } from '../access/visible-scope.ts';
import { auditContentRead } from '../audit/hook.ts';
import type { RoutePorts } from '../ports.ts';
import { notFound } from '../routes/app.ts';
import type { TestedEvent, TestRequest } from './request.ts';

/** `configuration`: by which the rule is tried. It says which streams have changes. */
type TryPorts = Pick<RoutePorts, 'clock' | 'ids' | 'log' | 'readModels' | 'ruleStates'> & {
  readonly configuration: Configuration;
};

/** Throws `forbidden_role` with who could. */
export function demandOneOf(enough: readonly Permission[], principal: Principal, workspace: string): void {
  if (!enough.some((one) => principal.may(one, workspace))) throw lacking(enough);
}

/** Events that a rule meets in a test, what is remembered before them, and the last moment. */
export type TriedEvents = {
  readonly events: readonly SourceEvent[];
  readonly until: Instant;
  readonly memories: readonly EntityMemory[];
};

/**
 * Virtual time added after the last event of a rule test, so that every waiting rule reaches its deadline. No deadline
 * is longer.
 */
const LONGEST_WAIT = 367 * 86_400_000;

/** Reads the events of a test. Throws `invalid_request` with the field and what to write. */
export async function eventsToTry(
  placed: PlacedRule,
  tested: TestRequest,
  request: FastifyRequest,
  ports: TryPorts,
): Promise<TriedEvents> {
  const given = [tested.event, tested.event_id, tested.events].filter((part) => part !== undefined);
  if (given.length !== 1) {
    throw new CarillonError(
      'invalid_request',
      'event: give the event, the event_id of one that is on the log, or a list of events',
    );
  }
  const stream = streamTable(ports.configuration).streams.get(placed.stream) ?? null;
  const memories = await memoriesOf(placed, tested.entity, request, ports);
  const lines = tested.events ?? [tested];
  const events: SourceEvent[] = [];
  for (const [index, line] of lines.entries()) {
    const field = (name: string): string => (tested.events ? `events.${index}.${name}` : name);
    const event = await eventOf({ placed, stream, line, field, before: events }, request, ports);
    events.push(entityEvent(event, placed, stream, { tested, field: field('event') }));
  }
  const last = events.at(-1)?.appendedAt ?? 0;
  return { events, until: untilOf(tested.until, events, last), memories };
}

type TriedLine = {
  readonly placed: PlacedRule;
  readonly stream: EventStream | null;
  readonly line: TestedEvent;
  /** Name of a part of the line in the request. */
  readonly field: (name: string) => string;
  readonly before: readonly SourceEvent[];
};

/** Reads the event of a line, or the event on the log that the line names, if the caller may see bodies. */
async function eventOf(
  { placed, stream, line, field, before }: TriedLine,
  request: FastifyRequest,
  { clock, ids, log, readModels }: TryPorts,
): Promise<SourceEvent> {
  const { at: moment, event, event_id: eventId, op, previous } = line;
  if ((event === undefined) === (eventId === undefined)) {
    throw refused(field('event'), 'give the event, or the event_id of one that is on the log');
  }
  const now = clock.now();
  if (eventId !== undefined) {
    const { body, change, time, key, appendedAt } = await eventOnLog(eventId, request, { log, readModels });
    const at = momentOf(moment, field('at'), { before, otherwise: appendedAt, now });
    const tried = triedEvent(placed, body, at, eventId as EventId);
    return { ...tried, change, key, time: moment === undefined ? time : at };
  }
  const at = momentOf(moment, field('at'), { before, otherwise: null, now });
  const id = ids.random('event') as EventId;
  const written = { event: event ?? '', ...(op !== undefined && { op }), ...(previous !== undefined && { previous }) };
  const read = readWrittenEvent(written, { placed, stream, at, id });
  if (read.ok) return read.value;
  const { field: part, code, detail, facts } = read.error;
  throw new CarillonError(code, `${field(part)}: ${detail}`, facts);
}

type Moments = {
  readonly before: readonly SourceEvent[];
  /** Counts without a moment. Null: the time of the line before does, or now. */
  readonly otherwise: Instant | null;
  readonly now: Instant;
};

function momentOf(at: string | undefined, field: string, { before, otherwise, now }: Moments): Instant {
  const last = before.at(-1)?.appendedAt;
  if (at === undefined) return Math.max(otherwise ?? last ?? now, last ?? 0);
  const moment = readMoment(at, before[0]?.appendedAt ?? now);
  if (!moment.ok) throw refused(field, moment.error);
  if (last !== undefined && moment.value < last) {
    throw refused(
      field,
      `${formatInstant(moment.value)} is before the event above. Write events in the order of time.`,
    );
  }
  return moment.value;
}

function untilOf(until: string | undefined, events: readonly SourceEvent[], last: Instant): Instant {
  if (until === undefined) return last + LONGEST_WAIT;
  const moment = readMoment(until, events[0]?.appendedAt ?? last);
  if (!moment.ok) throw refused('until', moment.error);
  if (moment.value < last) throw refused('until', `${formatInstant(moment.value)} is before the last event`);
  return Math.min(moment.value, last + LONGEST_WAIT);
}

const refused = (field: string, detail: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${detail}`, { pointer: `/${field.replaceAll('.', '/')}` });

/** A single event needs no key, because it is about one entity. Each of several events needs its key. */
function entityEvent(
  event: SourceEvent,
  placed: PlacedRule,
  stream: EventStream | null,
  { tested, field }: { readonly tested: TestRequest; readonly field: string },
): SourceEvent {
  const keyed = withEntity(event, placed, stream);
  if (keyed.key !== null) return keyed;
  const path = keyPathOf(placed, stream, event);
  if (tested.events && path !== null) throw refused(field, `this stream needs its key at ${path} in each event`);
  return tested.events ? keyed : { ...keyed, key: tested.entity ?? '' };
}

async function memoriesOf(
  placed: PlacedRule,
  entity: string | undefined,
  request: FastifyRequest,
  ports: TryPorts,
): Promise<readonly EntityMemory[]> {
  if (entity === undefined) return [];
  demandOneOf(['bodies'], principalOf(request), placed.workspace);
  const of = { workspace: placed.workspace, stream: placed.stream, key: entity };
  await auditContentRead(request, { workspace: placed.workspace, target: ruleIdOf(placed) });
  const memory = await loadMemory(of, ports);
  return memory === null ? [] : [memory];
}

/** Returns an event by its id, for whoever may see its contents, and writes that on the audit. Throws `not_found` and `forbidden_role`. */
export async function eventOnLog(
  id: string,
  request: FastifyRequest,
  { log, readModels }: Pick<RoutePorts, 'log' | 'readModels'>,
): Promise<Pick<SourceEvent, 'body' | 'change' | 'time' | 'key' | 'appendedAt'>> {
  const sight = visibleScopeOf(request);
  const row = (await readModels.event(id)).findLast(({ workspace }) => sight.sees(workspace));
  if (row) demandOneOf(['bodies'], principalOf(request), row.workspace);
  const [record] = row ? await log.read('carillon.events', row.partition, row.offset, 1) : [];
  const found = row && record?.offset === row.offset ? readSourceRecord(record, log.logId) : undefined;
  if (!row || !found?.ok || found.value.kind !== 'event') throw notFound(`event ${id} on the log`);
  await auditContentRead(request, { workspace: row.workspace, target: id });
  return found.value.event;
}
