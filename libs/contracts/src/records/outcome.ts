import type { DeliveryReason, DeliveryState, Outcome } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId, IntentId } from '@carillon/kernel';
import type { RecordKind } from './record-kind.ts';
import { readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const STATES: Readonly<Record<DeliveryState, true>> = {
  WAITING: true,
  SENDING: true,
  COLLECTED: true,
  DIGESTED: true,
  SUPPRESSED: true,
  FAILED: true,
  EXPIRED: true,
  CANCELLED: true,
  SENT: true,
  IN_DOUBT: true,
  DELIVERED: true,
  BOUNCED: true,
  COMPLAINED: true,
};

const REASONS: Readonly<Record<DeliveryReason, true>> = {
  new: true,
  rule_withdrawn: true,
  no_address: true,
  invalid_address: true,
  opted_out: true,
  suppressed_address: true,
  cannot_send_on_channel: true,
  not_after_passed: true,
  delayed: true,
  held_by_quiet_hours: true,
  quiet_hours: true,
  held_by_limit: true,
  capped: true,
  collected: true,
  digested: true,
  cannot_render: true,
  no_account: true,
  refused_recipient: true,
  refused_content: true,
  refused_account: true,
  throttled: true,
  transient: true,
  attempts_used_up: true,
  accepted: true,
  answer_unknown: true,
  lease_ran_out: true,
  stopped_before_sending: true,
  account_unavailable: true,
  operator_resend: true,
  operator_cancel: true,
  operator_dismiss: true,
  in_doubt_resend: true,
  in_doubt_drop: true,
  taken_over: true,
  duplicate: true,
  delivered: true,
  bounced: true,
  complained: true,
  evidence: true,
};

type WireOutcome = {
  id: string;
  delivery_id: string;
  intent_id: string;
  event_id: string;
  workspace: string;
  notification: string;
  state: string;
  reason: string;
  attempt: number;
  at: number;
  traceparent: string | null;
  personal: Buffer;
};

/** `detail` counts as personal: it may quote what a provider answered. */
export const outcomeRecord = {
  name: 'outcome',
  topic: 'carillon.outcomes',
  owner: 'delivery',
  description: 'Moves of deliveries, appended after they stand in the ledger.',
  key: 'delivery id',
  partitions: 8,
  retention: '30d',
  embeddedRetention: 'forever',
  schema: {
    type: 'record',
    name: 'Outcome',
    namespace: 'carillon',
    doc: 'One move of a delivery, appended after it stands in the ledger.',
    fields: [
      {
        name: 'id',
        type: 'string',
        doc: 'Derived from the delivery id and its version; that of a duplicate from its intent.',
      },
      { name: 'delivery_id', type: 'string' },
      { name: 'intent_id', type: 'string' },
      { name: 'event_id', type: 'string' },
      { name: 'workspace', type: 'string' },
      { name: 'notification', type: 'string' },
      { name: 'state', type: 'string', doc: 'One of the delivery states.' },
      { name: 'reason', type: 'string', doc: 'One of the delivery reasons.' },
      { name: 'attempt', type: 'long' },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'traceparent', type: ['null', 'string'], default: null },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {detail}: words that may quote a provider. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (outcome) => ({
    id: outcome.id,
    delivery_id: outcome.deliveryId,
    intent_id: outcome.intentId,
    event_id: outcome.eventId,
    workspace: outcome.workspace,
    notification: outcome.notification,
    state: outcome.state,
    reason: outcome.reason,
    attempt: outcome.attempt,
    at: outcome.at,
    traceparent: outcome.traceparent,
    personal: writePersonal({ detail: outcome.detail }),
  }),
  read: (wire) => ({
    id: wire.id,
    deliveryId: wire.delivery_id as DeliveryId,
    intentId: wire.intent_id as IntentId,
    eventId: wire.event_id as EventId,
    workspace: wire.workspace,
    notification: wire.notification,
    state: wordOf(wire.state, STATES, 'state'),
    reason: wordOf(wire.reason, REASONS, 'reason'),
    detail: textOf(readPersonal(wire.personal)['detail'], 'detail'),
    attempt: wire.attempt,
    at: wire.at,
    traceparent: wire.traceparent,
  }),
} satisfies RecordKind<Outcome, WireOutcome>;
