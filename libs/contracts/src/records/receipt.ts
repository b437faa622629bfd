import {
  RECEIPT_SOURCES,
  type Receipt,
  type ReceiptSource,
  type ReportedSuppression,
  type ReportVerdict,
} from '@carillon/domain/receipts';
import type { DeliveryId } from '@carillon/kernel';
import type { RecordKind } from './record-kind.ts';
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
export const receiptRecord = {
  name: 'receipt',
  topic: 'carillon.receipts',
  owner: 'gateway',
  description: 'What providers report after they have accepted a message.',
  key: 'delivery id',
  partitions: 8,
  retention: '30d',
  embeddedRetention: 'forever',
  schema: {
    type: 'record',
    name: 'Receipt',
    namespace: 'carillon',
    doc: 'What a provider reported about a message after it had taken it; proved, and appended before the provider got its answer.',
    fields: [
      { name: 'id', type: 'string', doc: "Derived from source, account and the provider's own name of the report." },
      { name: 'source', type: 'string', doc: 'Who reported: a provider, a mail service, dsn or arf.' },
      {
        name: 'account',
        type: ['null', 'string'],
        default: null,
        doc: 'Key of the account that the proof belongs to; null for mail that came back.',
      },
      {
        name: 'delivery_id',
        type: ['null', 'string'],
        default: null,
        doc: 'Null where no valid token came with it: it is parked.',
      },
      { name: 'attempt', type: 'int', default: 0, doc: 'Counts from 1; 0 where delivery_id is null.' },
      {
        name: 'attempt_tag',
        type: ['null', 'string'],
        default: null,
        doc: "The end of the attempt's id, as its token has it: an attempt that a restored store forgot had the same number.",
      },
      { name: 'verdict', type: 'string', doc: 'delivered, bounced, complained or note.' },
      {
        name: 'suppress',
        type: ['null', 'string'],
        default: null,
        doc: 'hard_bounce, complaint or stop, where the address gets nothing more.',
      },
      { name: 'alert', type: 'boolean', default: false },
      { name: 'code', type: 'string' },
      {
        name: 'at',
        type: ['null', { type: 'long', logicalType: 'timestamp-millis' }],
        default: null,
        doc: "By the provider's clock.",
      },
      { name: 'received_at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      {
        name: 'wish',
        type: ['null', 'string'],
        default: null,
        doc: 'stop or start, where somebody wrote so to a number of the account; then it is about no attempt, and personal holds {address}.',
      },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {detail, address}: words that may quote the address; address where there is a wish. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
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
} satisfies RecordKind<Receipt, WireReceipt>;
