import { wordsWithoutIntent } from '@carillon/domain/channels';
import { sendersOver, type Delivery, type Moment } from '@carillon/domain/deliveries';
import { formatPosition } from '@carillon/domain/events';
import { applyReceipt, type Receipt, type ReceiptResult } from '@carillon/domain/receipts';
import {
  MESSAGE_CLAIM,
  type BatchStage,
  type Clock,
  type ConfigurationView,
  type DeliveryLedger,
  type EventLog,
  type Ids,
  type LogRecord,
  type LookupClaims,
  type NewRecord,
  type RecordCodecs,
  type RecordFate,
  type SuppressionList,
} from '@carillon/ports';
import { decodeRecords } from '../decode-record.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { forEachConcurrently } from '../for-each-concurrently.ts';
import { publishTogether, transitionAndPublish, type PublicationBatch } from './transition.ts';

export type ReceiptPorts = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly suppressions: SuppressionList;
  /** Claims that record which STOP and START messages were carried out. */
  readonly claims: Pick<LookupClaims, 'get' | 'claim'>;
  /** Configuration, to find the workspaces that use the number which received the message. */
  readonly configuration: Pick<ConfigurationView, 'current'>;
  readonly codecs: Pick<RecordCodecs, 'receipt' | 'outcome' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Called for a report that needs an operator, because it is about the account or the content. */
  readonly alert: (account: string, code: string, detail: string) => void;
};

/** Reason of a receipt that matches no attempt. It becomes a dead letter. */
export const UNKNOWN_RECEIPT = 'unknown_receipt';
const UNKNOWN: RecordFate = { kind: 'parked', reason: UNKNOWN_RECEIPT };
const WHY_UNKNOWN = 'this deployment made no attempt with that account and token';
const WHY_NOBODY = 'no account uses the number that received the reply any more';

/**
 * Deliveries whose receipts are applied concurrently. Each waits for the store two or three times, and a store writes
 * many documents as fast as one.
 */
const CONCURRENCY = 256;

/** Tries of a compare-and-set before the batch fails and is retried. */
const MAX_TRIES = 50;

/**
 * Applies provider reports to the ledger after the call (flow table, stage 4). Each receipt is applied once and only
 * moves a delivery forward, so a batch may be repeated. An address is suppressed before its delivery moves, because a
 * moved delivery is not read again. Receipts of one delivery and replies of people keep their order; others run
 * concurrently.
 */
export function createReceiptStage(ports: ReceiptPorts): BatchStage {
  const { ledger, ids, clock, codecs } = ports;
  const moment = (): Moment => ({ now: clock.now(), derive: ids.derive });

  async function apply(report: Receipt, batch: PublicationBatch): Promise<RecordFate> {
    const id = report.attempt?.deliveryId;
    if (!id) return UNKNOWN;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const delivery = await ledger.get(id);
      // The detail is readable by people without access to messages, so words of the message are masked.
      const receipt = delivery ? { ...report, detail: wordsWithoutIntent(report.detail, delivery.intent) } : report;
      const judged = delivery && applyReceipt(delivery, receipt, moment());
      if (!delivery || !judged || judged.kind === 'unknown') return UNKNOWN;
      await suppress(delivery, receipt, judged);
      if (judged.kind === 'known') return { kind: 'dropped', reason: 'known' };
      // Alert before the write: a stored receipt counts as known, so a crash in between would lose the alert. Only the
      // code is reported, because the log must not hold the provider's text, which may quote an address.
      if (receipt.alert && tries === 0)
        ports.alert(receipt.account ?? receipt.source, receipt.code, `${receipt.source} reported it`);
      if (await transitionAndPublish(judged.next, ports, { together: true, batch })) return { kind: 'done' };
    }
    throw new Error(`delivery ${id} could not be written`);
  }

  /**
   * Carries out a person's STOP or START once per message id. The later message counts. A stalled process may carry one
   * out again, so START never removes a later STOP. At equal times STOP wins. STOP applies to every workspace that uses
   * the number now.
   */
  async function carryOut(
    record: LogRecord,
    receipt: Receipt,
    { address, wish }: NonNullable<Receipt['inbound']>,
  ): Promise<RecordFate> {
    const senders = sendersOver(ports.configuration.current(), receipt.account ?? '');
    const triggerId = `${MESSAGE_CLAIM}${receipt.id}`;
    const remember = async (): Promise<void> => {
      const position = formatPosition({ ...record, logId: ports.log.logId });
      await ports.claims.claim([{ triggerId, position, at: clock.now() }]);
    };
    if (senders.length === 0) {
      // A parked STOP may be redriven, which a claim would prevent. A parked START is never carried out.
      if (wish === 'start') await remember();
      // The person's message had no effect, so an operator has to see it.
      return UNKNOWN;
    }
    if ((await ports.claims.get(triggerId)) !== null) return { kind: 'dropped', reason: 'known' };
    for (const { workspace, channel } of senders) {
      const at = receipt.receivedAt;
      if (wish === 'start') await ports.suppressions.remove(workspace, channel, address, 'stop', at - 1);
      else {
        const detail = `${receipt.source}: ${receipt.detail}`;
        await ports.suppressions.add({ workspace, channel, address, source: 'stop', detail, deliveryId: null, at });
      }
    }
    // Claim last: after a crash before this write, the record is read and carried out again, so no STOP is lost.
    await remember();
    return { kind: 'done' };
  }

  async function suppress(
    { id, slot }: Delivery,
    receipt: Receipt,
    judged: Exclude<ReceiptResult, { kind: 'unknown' }>,
  ): Promise<void> {
    if (judged.suppress === null) return;
    await ports.suppressions.add({
      workspace: slot.workspace,
      channel: slot.channel,
      address: judged.suppress.address,
      source: judged.suppress.source,
      detail: `${receipt.source}: ${receipt.code} ${receipt.detail}`.trim(),
      deliveryId: id,
      // Time of the report, as for all suppressions, so that a later START removes an earlier STOP.
      at: receipt.receivedAt,
    });
  }

  return {
    name: 'receipts',
    async handle(records, state) {
      const read = await decodeRecords(codecs.receipt, records);
      const fates: RecordFate[] = [];
      const receipts = read.map(({ decoded }) => (decoded.ok ? decoded.value : null));
      const laneOf = lanesOf(receipts);
      const lanes = Map.groupBy(read.entries(), ([at]) => laneOf(receipts[at] ?? null) ?? at);
      // If one receipt fails, the batch is retried and does not move the other deliveries again, so their outcomes are published now.
      await publishTogether(ports, (batch) =>
        forEachConcurrently(lanes.values(), CONCURRENCY, async (lane) => {
          for (const [at, { record, decoded }] of lane) {
            if (!decoded.ok) fates[at] = { kind: 'parked', reason: decoded.error.reason };
            else if (decoded.value.inbound) fates[at] = await carryOut(record, decoded.value, decoded.value.inbound);
            else fates[at] = await apply(decoded.value, batch);
          }
        }),
      );
      const outputs = read.flatMap(({ record, decoded }, at): readonly NewRecord[] => {
        const fate = fates[at];
        if (fate?.kind !== 'parked') return [];
        const why = !decoded.ok ? decoded.error.detail : decoded.value.inbound ? WHY_NOBODY : WHY_UNKNOWN;
        return [deadLetterRecord(deadLetterOf('receipts', record, fate.reason, why, ports), ports)];
      });
      return { fates, outputs, state };
    },
  };
}

/** A lane name that no delivery id can equal. */
const WISHES = 'wishes';

/**
 * Returns the queue in which a receipt is applied in order: one per delivery, and one for replies to our numbers. If a
 * provider reports STOP for a delivery, all receipts of that delivery use the queue of replies, because a START of the
 * same number may come before or after, and the number is only known once the delivery is read. Null if order does not
 * matter.
 */
function lanesOf(read: readonly (Receipt | null)[]): (receipt: Receipt | null) => string | null {
  const stopped = new Set(
    read.map((receipt) => (receipt?.suppress === 'stop' ? receipt.attempt?.deliveryId : undefined)),
  );
  return (receipt) => {
    if (!receipt) return null;
    const id = receipt.attempt?.deliveryId;
    return receipt.inbound || (id && stopped.has(id)) ? WISHES : (id ?? null);
  };
}
