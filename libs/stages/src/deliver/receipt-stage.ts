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
  /** Says which STOP and START messages were carried out already. */
  readonly claims: Pick<LookupClaims, 'get' | 'claim'>;
  /** Says who sends over a number that somebody wrote to. */
  readonly configuration: Pick<ConfigurationView, 'current'>;
  readonly codecs: Pick<RecordCodecs, 'receipt' | 'outcome' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** A report that asks for an operator: a problem of the account or of the content. */
  readonly alert: (account: string, code: string, detail: string) => void;
};

/** A receipt that belongs to no attempt of ours: an operator sees it among the dead letters. */
export const UNKNOWN_RECEIPT = 'unknown_receipt';
const UNKNOWN: RecordFate = { kind: 'parked', reason: UNKNOWN_RECEIPT };
const WHY_UNKNOWN = 'no attempt of ours went over this account with that token';
const WHY_NOBODY = 'no account uses the number that received the reply any more';

/**
 * Receipts of so many deliveries are applied at a time. Each waits for the store two or three times, and a store takes many writes
 * together as quickly as one.
 */
const CONCURRENCY = 256;

/** A document whose compare-and-set keeps failing is under heavy fire; the batch then comes again. */
const MAX_TRIES = 50;

/**
 * Deliver, after the call (flow table, stage 4): applies what providers report to the ledger. Each receipt is applied once
 * and upwards only, so the same batch may come again; an address that it condemns is on the list before the delivery
 * moves, since nobody would look at it again. Those of one delivery, and what people wrote, keep their order; all others are
 * applied side by side.
 */
export function createReceiptStage(ports: ReceiptPorts): BatchStage {
  const { ledger, ids, clock, codecs } = ports;
  const moment = (): Moment => ({ now: clock.now(), derive: ids.derive });

  async function apply(said: Receipt, batch: PublicationBatch): Promise<RecordFate> {
    const id = said.attempt?.deliveryId;
    if (!id) return UNKNOWN;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const seen = await ledger.get(id);
      // What is written down is read by people who may not read messages.
      const receipt = seen ? { ...said, detail: wordsWithoutIntent(said.detail, seen.intent) } : said;
      const judged = seen && applyReceipt(seen, receipt, moment());
      if (!seen || !judged || judged.kind === 'unknown') return UNKNOWN;
      await suppress(seen, receipt, judged);
      if (judged.kind === 'known') return { kind: 'dropped', reason: 'known' };
      // Before it is written: once it is, the receipt is known, and a process that died in between would have told nobody.
      // The code alone: a provider's words may quote the address, and this goes into a log.
      if (receipt.alert && tries === 0)
        ports.alert(receipt.account ?? receipt.source, receipt.code, `${receipt.source} reported it`);
      if (await transitionAndPublish(judged.next, ports, { together: true, batch })) return { kind: 'done' };
    }
    throw new Error(`delivery ${id} could not be written`);
  }

  /**
   * Carries out a STOP or START that a person sent, once for each message id. The later message counts. A process that stood still
   * may carry out a message once more, so START takes away no STOP that came later. If both came in one millisecond, STOP
   * counts, because nobody may get what they refused. STOP holds for everybody who sends over the number now.
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
    // Last: after a crash before this write, the record is read again and carried out, so no STOP is lost.
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
      // As of all that is said of an address, so that a START that came later takes away a STOP that was reported before.
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

/** No name of a delivery. */
const WISHES = 'wishes';

/**
 * What is applied in its order: what is said of one delivery, and what people wrote to our numbers. A provider that says of a delivery
 * that its person said STOP stands among the latter, with all that is said of that delivery: a START of the same number may stand
 * before or after it, and the number is known only once the delivery has been read. Null: by itself.
 */
function lanesOf(read: readonly (Receipt | null)[]): (receipt: Receipt | null) => string | null {
  const stopped = new Set(read.map((one) => (one?.suppress === 'stop' ? one.attempt?.deliveryId : undefined)));
  return (receipt) => {
    if (!receipt) return null;
    const id = receipt.attempt?.deliveryId;
    return receipt.inbound || (id && stopped.has(id)) ? WISHES : (id ?? null);
  };
}
