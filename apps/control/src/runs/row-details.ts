import { readPosition, type SourceEvent } from '@carillon/domain/events';
import { notificationIdOf, ruleIdOf, foldConfiguration } from '@carillon/domain/configuration';
import { triggerIdOf } from '@carillon/domain/lookups';
import { slotToLookUp, type Row, type Run, type Side } from '@carillon/domain/runs';
import type { DeliveryId, EventId } from '@carillon/kernel';
import {
  decodeRecord,
  deliveryIdOf,
  narrowRuleBook,
  readSourceRecord,
  recordedAnswerOf,
  runYielding,
  wantedMessagesCoroutine,
  type CompareContext,
  type ComparedConfigurations,
  type RecordedAnswer,
} from '@carillon/stages';
import type { RoutePorts } from '../ports.ts';

export type RowDetailPorts = Pick<RoutePorts, 'book' | 'claims' | 'codecs' | 'configuration' | 'ids' | 'log' | 'slice'>;

/** Who a row is about. Both addresses and the person are null if the event is gone. */
export type RowDetails = { readonly person: string | null } & { readonly [Name in Side]: string | null };

const NOBODY: RowDetails = { person: null, before: null, after: null };

/** Returns a function that evaluates the event of a row again, because a result holds no names and no addresses. */
export async function createRowDetails(run: Run, ports: RowDetailPorts): Promise<(row: Row) => Promise<RowDetails>> {
  const configurations = await configurationsOf(run, ports);
  const compared = new Set(run.notifications);
  const book = narrowRuleBook(
    ports.book,
    ({ workspace, notification }) => workspace === run.workspace && compared.has(notification.ref.name),
  );
  const context = { configurations, book, ids: ports.ids };

  return async (row) => {
    const event = await readEventAt(row, ports);
    if (!event) return NOBODY;
    const answers = await readAnswers(event, context, ports);
    const findAnswer = (ruleId: string, _event: EventId, part: number) => answers.get(`${ruleId} ${part}`);
    const messageOf = async (side: Side, slot: DeliveryId) => {
      const wanted = await runYielding(wantedMessagesCoroutine(event, side, { ...context, findAnswer }), ports.slice);
      return wanted.find(({ placed, channel, uniqueId }) => {
        const notificationId = notificationIdOf(placed.notification);
        return (
          deliveryIdOf({ slot: { workspace: placed.workspace, notificationId, channel, uniqueId } }, ports.ids) === slot
        );
      });
    };
    const before = await messageOf('before', slotToLookUp(row));
    const after = await messageOf('after', row.slot);
    return { person: (after ?? before)?.person ?? null, before: before?.to ?? null, after: after?.to ?? null };
  };
}

async function configurationsOf(
  { before, published, changes }: Run,
  { configuration }: Pick<RowDetailPorts, 'configuration'>,
): Promise<ComparedConfigurations> {
  const base = await configuration.at(published);
  const after = changes.length > 0 ? foldConfiguration(base, { changes }, base.number + 1).configuration : base;
  return { before: await configuration.at(before), after };
}

async function readEventAt({ position, eventId }: Row, { log }: RowDetailPorts): Promise<SourceEvent | null> {
  const place = readPosition(position);
  if (!place) return null;
  const [record] = await log.read('carillon.events', place.partition, place.offset, 1);
  if (record?.offset !== place.offset) return null;
  const read = readSourceRecord(record, log.logId);
  return read.ok && read.value.kind === 'event' && read.value.event.id === eventId ? read.value.event : null;
}

/** Reads the answers that were recorded for the live triggers of an event. */
async function readAnswers(
  event: SourceEvent,
  { configurations, book }: Pick<CompareContext, 'configurations' | 'book'>,
  { claims, codecs, ids, log }: RowDetailPorts,
): Promise<ReadonlyMap<string, RecordedAnswer>> {
  const answers = new Map<string, RecordedAnswer>();
  const rules = Object.values(configurations).flatMap((side) => book.rulesOf(side, event.stream));
  const asking = rules.flatMap((entry) => (entry.ok && entry.rule.from === 'lookup' ? [ruleIdOf(entry.placed)] : []));
  for (const ruleId of new Set(asking)) {
    for (let part = 0; ; part += 1) {
      const claim = await claims.get(triggerIdOf(ids.derive, ruleId, event.id, { part, runId: null }));
      const place = claim && readPosition(claim.position);
      if (!place) break;
      const [record] = await log.read('carillon.lookups', place.partition, place.offset, 1);
      const decoded = record?.offset === place.offset ? await decodeRecord(codecs.lookup, record.value) : null;
      if (record && decoded?.ok) answers.set(`${ruleId} ${part}`, recordedAnswerOf(decoded.value, record.time));
    }
  }
  return answers;
}
