import { ruleIdOf } from '@carillon/domain/configuration';
import { evaluateRule, type CompiledRule } from '@carillon/domain/rules';
import type { DeliveryLedger, EventLog, EventRow, ReadModels } from '@carillon/ports';
import { hasFired } from './rule-sample.ts';
import type { FiredEvent } from './tried-event.ts';
import { readSourceRecord } from '@carillon/stages';

export type FiredEventPorts = {
  readonly log: Pick<EventLog, 'logId' | 'read'>;
  readonly readModels: Pick<ReadModels, 'event'>;
  readonly ledger: Pick<DeliveryLedger, 'list'>;
};

/** Deliveries of the notification that are looked through. */
const LOOKED_AT = 50;

/**
 * Returns the newest event that made this rule fire, by its deliveries, and would do so today. Null if there is none.
 */
export async function newestFiredEvent(rule: CompiledRule, ports: FiredEventPorts): Promise<FiredEvent | null> {
  const { workspace, notification } = rule.placed;
  const page = await ports.ledger.list({ workspace, notification: notification.ref.name }, LOOKED_AT);
  const own = page.items.filter(({ intent }) => intent.ruleId === ruleIdOf(rule.placed));
  for (const id of new Set(own.map(({ intent }) => intent.eventId))) {
    const row = (await ports.readModels.event(id)).at(-1);
    const fired = row ? await firedEvent(rule, row, ports) : null;
    if (fired) return fired;
  }
  return null;
}

async function firedEvent(rule: CompiledRule, row: EventRow, { log }: FiredEventPorts): Promise<FiredEvent | null> {
  const [record] = await log.read('carillon.events', row.partition, row.offset, 1);
  const read = record?.offset === row.offset ? readSourceRecord(record, log.logId) : undefined;
  if (!read?.ok || read.value.kind !== 'event') return null;
  const enabled = { ...rule, placed: { ...rule.placed, enabled: true } };
  const outcome = evaluateRule(enabled, read.value.event, () => 'trg_sample');
  return hasFired(outcome) ? read.value.event : null;
}
