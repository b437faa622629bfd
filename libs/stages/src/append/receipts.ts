import { partitionOf } from '@carillon/domain/events';
import { readReceiptToken, type InboundWish, type Receipt, type Report } from '@carillon/domain/receipts';
import type { Instant } from '@carillon/kernel';
import type { EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

export type ReceiptRecordPorts = {
  readonly log: Pick<EventLog, 'partitions'>;
  readonly ids: Ids;
  readonly codecs: Pick<RecordCodecs, 'receipt'>;
};

/**
 * Builds the log record of a verified report. `account`: key of the account that the proof belongs to, null for a
 * bounce mail. Equal reports get equal ids. A report without a token of ours is appended too; the delivery role parks
 * it for a person.
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
  const receipt: Receipt = { ...said, id, account, attempt, receivedAt, inbound: null };
  return recordOf(receipt, ids.keyed('receipt', attempt?.deliveryId ?? id), log, codecs);
}

/**
 * Builds the log record of a person's reply to an account's number. All replies of one address go to one partition,
 * because the later one of STOP and START counts.
 */
export function inboundRecord(
  { source, eventId, address, wish }: InboundWish,
  account: string,
  receivedAt: Instant,
  { log, ids, codecs }: ReceiptRecordPorts,
): NewRecord {
  const receipt: Receipt = {
    id: ids.derive('receipt', source, account, eventId),
    source,
    account,
    attempt: null,
    verdict: 'note',
    suppress: wish === 'stop' ? 'stop' : null,
    alert: false,
    code: '',
    detail: `wrote ${wish.toUpperCase()}`,
    at: null,
    receivedAt,
    inbound: { address, wish },
  };
  return recordOf(receipt, ids.keyed('inbound', address), log, codecs);
}

const recordOf = (
  receipt: Receipt,
  key: string,
  log: ReceiptRecordPorts['log'],
  codecs: ReceiptRecordPorts['codecs'],
): NewRecord => ({
  topic: 'carillon.receipts',
  partition: partitionOf(key, log.partitions('carillon.receipts')),
  key,
  value: codecs.receipt.encode(receipt),
  headers: {},
});
