import { readTriedChange } from '@carillon/domain/changes';
import { streamTable, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import { EVENT_LIMITS, readEvent, type SourceEvent } from '@carillon/domain/events';
import { CarillonError, type EventId } from '@carillon/kernel';
import { triedChange, triedEvent, triedSource } from '@carillon/insight';
import { readSourceRecord } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { lacking } from '../../access/guard.ts';
import type { Permission } from '../../access/permission.ts';
import { principalOf, type Principal } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { auditContentRead } from '../../audit/hook.ts';
import type { RoutePorts } from '../../ports.ts';
import { notFound } from '../app.ts';

/** `configuration`: by which the rule is tried. It says which streams have changes. */
type TryPorts = Pick<RoutePorts, 'clock' | 'ids' | 'log' | 'readModels'> & { readonly configuration: Configuration };

/** Throws `forbidden_role` with who could. */
export function demandOneOf(enough: readonly Permission[], principal: Principal, workspace: string): void {
  if (!enough.some((one) => principal.may(one, workspace))) throw lacking(enough);
}

/** The event that was sent along, or the one on the log that was named, for whoever may see what that one holds. */
export async function eventToTry(
  placed: PlacedRule,
  { event, event_id: id }: { readonly event?: string | undefined; readonly event_id?: string | undefined },
  request: FastifyRequest,
  { clock, ids, log, readModels, configuration }: TryPorts,
): Promise<SourceEvent> {
  if ((event === undefined) === (id === undefined)) {
    throw new CarillonError('invalid_request', 'event: give the event, or the event_id of one that is on the log');
  }
  if (id !== undefined) {
    const { body, change, time } = await eventOnLog(id, request, { log, readModels });
    return { ...triedEvent(placed, body, time, id as EventId), change };
  }
  const now = clock.now();
  const bytes = new TextEncoder().encode(event);
  const source = triedSource(streamTable(configuration).streams.get(placed.stream) ?? null, now);
  if (source) {
    const change = readTriedChange(bytes, source);
    if (!change.ok) throw new CarillonError('invalid_request', `event: ${change.error.detail}`);
    return triedChange(placed, change.value, now, ids.random('event') as EventId);
  }
  if (bytes.length > EVENT_LIMITS.bytes) {
    throw new CarillonError('invalid_request', `event: an event has at most ${EVENT_LIMITS.bytes} bytes`);
  }
  const read = readEvent(bytes);
  if (!read.ok) {
    const { code, ...fault } = read.error;
    throw new CarillonError(code, `event: ${fault.detail}`, fault);
  }
  return triedEvent(placed, read.value.body, now, ids.random('event') as EventId);
}

/** Returns an event by its id, for whoever may see its contents, and writes that on the audit. Throws `not_found` and `forbidden_role`. */
export async function eventOnLog(
  id: string,
  request: FastifyRequest,
  { log, readModels }: Pick<RoutePorts, 'log' | 'readModels'>,
): Promise<Pick<SourceEvent, 'body' | 'change' | 'time'>> {
  const sight = visibleScopeOf(request);
  const row = (await readModels.event(id)).findLast(({ workspace }) => sight.sees(workspace));
  if (row) demandOneOf(['bodies'], principalOf(request), row.workspace);
  const [record] = row ? await log.read('carillon.events', row.partition, row.offset, 1) : [];
  const found = row && record?.offset === row.offset ? readSourceRecord(record, log.logId) : undefined;
  if (!row || !found?.ok || found.value.kind !== 'event') throw notFound(`event ${id} on the log`);
  await auditContentRead(request, { workspace: row.workspace, target: id });
  return found.value.event;
}
