import { partitionOf, readReceiptToken, type Receipt, type Report } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

export type ReceiptRecordPorts = {
  readonly log: Pick<EventLog, 'partitions'>;
  readonly ids: Ids;
  readonly codecs: Pick<RecordCodecs, 'receipt'>;
};

/**
 * A proved report as it goes onto the log. `account` is the key of the account that the proof belongs to; null for mail
 * that came back. The same report always makes the same id. Without a token that is ours it goes onto the log as well:
 * the delivery role parks it, and a person sees it.
 */
export function receiptRecord(
  report: Report,
  account: string | null,
  receivedAt: Instant,
  { log, ids, codecs }: ReceiptRecordPorts,
): NewRecord {
  const { eventId, token, ...said } = report;
  const id = ids.derive('receipt', report.source, account ?? '', eventId);
  const attempt = token === null ? null : readReceiptToken(token, (...parts) => ids.keyed(...parts));
  const receipt: Receipt = { ...said, id, account, attempt, receivedAt };
  const key = ids.keyed('receipt', attempt?.deliveryId ?? id);
  return {
    topic: 'carillon.receipts',
    partition: partitionOf(key, log.partitions('carillon.receipts')),
    key,
    value: codecs.receipt.encode(receipt),
    headers: {},
  };
}
