import {
  RECEIPT_SOURCES,
  type Receipt,
  type ReceiptSource,
  type ReportedSuppression,
  type ReportVerdict,
} from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import type { RecordShape } from './codec.ts';
import { readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const SOURCES = Object.fromEntries(RECEIPT_SOURCES.map((source) => [source, true])) as Record<ReceiptSource, true>;
const VERDICTS: Readonly<Record<ReportVerdict, true>> = {
  delivered: true,
  bounced: true,
  complained: true,
  note: true,
};
const SUPPRESSIONS: Readonly<Record<ReportedSuppression, true>> = { hard_bounce: true, complaint: true, stop: true };

const WISHES: Readonly<Record<'stop' | 'start', true>> = { stop: true, start: true };

type WireReceipt = {
  id: string;
  source: string;
  account: string | null;
  delivery_id: string | null;
  attempt: number;
  attempt_tag: string | null;
  verdict: string;
  suppress: string | null;
  alert: boolean;
  code: string;
  at: number | null;
  received_at: number;
  wish: string | null;
  personal: Buffer;
};

/** `detail` counts as personal: providers quote addresses. So does who wrote to us. */
export const receiptShape: RecordShape<Receipt, WireReceipt> = {
  write: (receipt) => ({
    id: receipt.id,
    source: receipt.source,
    account: receipt.account,
    delivery_id: receipt.attempt?.deliveryId ?? null,
    attempt: receipt.attempt?.attempt ?? 0,
    attempt_tag: receipt.attempt?.tag ?? null,
    verdict: receipt.verdict,
    suppress: receipt.suppress,
    alert: receipt.alert,
    code: receipt.code,
    at: receipt.at,
    received_at: receipt.receivedAt,
    wish: receipt.inbound?.wish ?? null,
    personal: writePersonal({
      detail: receipt.detail,
      ...(receipt.inbound && { address: receipt.inbound.address }),
    }),
  }),
  read(wire) {
    const personal = readPersonal(wire.personal);
    return {
      id: wire.id,
      source: wordOf(wire.source, SOURCES, 'source'),
      account: wire.account,
      attempt:
        wire.delivery_id === null
          ? null
          : { deliveryId: wire.delivery_id as DeliveryId, attempt: wire.attempt, tag: wire.attempt_tag },
      verdict: wordOf(wire.verdict, VERDICTS, 'verdict'),
      suppress: wire.suppress === null ? null : wordOf(wire.suppress, SUPPRESSIONS, 'suppress'),
      alert: wire.alert,
      code: wire.code,
      detail: textOf(personal['detail'], 'detail'),
      at: wire.at,
      receivedAt: wire.received_at,
      inbound:
        wire.wish === null
          ? null
          : { address: textOf(personal['address'], 'address'), wish: wordOf(wire.wish, WISHES, 'wish') },
    };
  },
};
