import type { ChannelName } from '@carillon/domain/channels';
import type { Intent } from '@carillon/domain/deliveries';
import type { EventId, IntentId, TriggerId } from '@carillon/kernel';
import type { RecordKind } from './record-kind.ts';
import { objectOf, readPersonal, textOf, textOrNull, wordOf, writePersonal } from './personal.ts';
import { DEADLINE_FIELD } from './deadline-field.ts';
import { readSentBy, SENT_BY_FIELD, writeSentBy, type WireSentBy } from './sent-by.ts';

const CHANNELS: Readonly<Record<ChannelName, true>> = { email: true, sms: true, push: true };

type WireIntent = {
  id: string;
  workspace: string;
  notification_id: string;
  channel: string;
  notification: string;
  rule: string;
  rule_id: string;
  rule_version: number;
  config_number: number;
  event_id: string;
  event_position: string;
  trigger_id: string;
  template: string;
  template_version: number;
  caused_at: number;
  deadline: number | null;
  send_at: number;
  not_after: number;
  traceparent: string | null;
  test_by: string | null;
  sent_by: WireSentBy | null;
  personal: Buffer;
};

/** Person, address and variables are personal data. All other fields only say that a message is due. */
export const intentRecord = {
  name: 'intent',
  topic: 'carillon.intents',
  owner: 'engine',
  description: 'Messages that ought to be sent.',
  key: 'slot',
  partitions: 8,
  retention: '30d',
  schema: {
    type: 'record',
    name: 'Intent',
    namespace: 'carillon',
    doc: 'One message that ought to be sent. Its id is a hash of what caused it, so evaluating twice yields the same record.',
    fields: [
      { name: 'id', type: 'string', doc: 'int_ and 26 characters.' },
      { name: 'workspace', type: 'string' },
      { name: 'notification_id', type: 'string', doc: 'Stable id of the notification; slots belong to it.' },
      { name: 'channel', type: 'string', doc: 'email, sms or push.' },
      { name: 'notification', type: 'string', doc: 'Name at the time of evaluation.' },
      { name: 'rule', type: 'string', doc: 'Name at the time of evaluation.' },
      { name: 'rule_id', type: 'string', doc: 'Stable id of the rule.' },
      { name: 'rule_version', type: 'long' },
      { name: 'config_number', type: 'long', doc: 'Configuration that judged the event.' },
      { name: 'event_id', type: 'string' },
      { name: 'event_position', type: 'string', doc: 'topic/partition@offset of the event.' },
      { name: 'trigger_id', type: 'string' },
      { name: 'template', type: 'string' },
      { name: 'template_version', type: 'long' },
      {
        name: 'caused_at',
        type: { type: 'long', logicalType: 'timestamp-millis' },
        doc: 'Append time of the event, or the deadline by which the rule fired.',
      },
      DEADLINE_FIELD,
      {
        name: 'send_at',
        type: { type: 'long', logicalType: 'timestamp-millis' },
        default: 0,
        doc: 'When it is due; later than caused_at where the notification has a delay.',
      },
      {
        name: 'not_after',
        type: { type: 'long', logicalType: 'timestamp-millis' },
        doc: 'Nothing is sent after this.',
      },
      { name: 'traceparent', type: ['null', 'string'], default: null },
      {
        name: 'test_by',
        type: ['null', 'string'],
        default: null,
        doc: 'Of a test message alone: who asked for it. Then event_id, rule_id and trigger_id name nothing.',
      },
      SENT_BY_FIELD,
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {to, person, unique_id, variables}. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (intent) => ({
    id: intent.id,
    workspace: intent.slot.workspace,
    notification_id: intent.slot.notificationId,
    channel: intent.slot.channel,
    notification: intent.notification,
    rule: intent.rule,
    rule_id: intent.ruleId,
    rule_version: intent.ruleVersion,
    config_number: intent.configNumber,
    event_id: intent.eventId,
    event_position: intent.eventPosition,
    trigger_id: intent.triggerId,
    template: intent.template,
    template_version: intent.templateVersion,
    caused_at: intent.causedAt,
    deadline: intent.deadline ?? null,
    send_at: intent.sendAt,
    not_after: intent.notAfter,
    traceparent: intent.traceparent,
    test_by: intent.test?.by ?? null,
    sent_by: writeSentBy(intent.sentBy),
    personal: writePersonal({
      to: intent.to,
      person: intent.person,
      unique_id: intent.slot.uniqueId,
      variables: intent.variables,
      ...(intent.test?.request !== undefined && { test_request: intent.test.request }),
      ...(intent.digestKey !== undefined && { digest_key: intent.digestKey }),
    }),
  }),
  read: (wire) => {
    const personal = readPersonal(wire.personal);
    const digestKey = personal['digest_key'];
    const request = personal['test_request'];
    return {
      id: wire.id as IntentId,
      slot: {
        workspace: wire.workspace,
        notificationId: wire.notification_id,
        channel: wordOf(wire.channel, CHANNELS, 'channel'),
        uniqueId: textOf(personal['unique_id'], 'unique_id'),
      },
      notification: wire.notification,
      rule: wire.rule,
      ruleId: wire.rule_id,
      ruleVersion: wire.rule_version,
      configNumber: wire.config_number,
      eventId: wire.event_id as EventId,
      eventPosition: wire.event_position,
      triggerId: wire.trigger_id as TriggerId,
      to: textOrNull(personal['to'], 'to'),
      person: textOf(personal['person'], 'person'),
      variables: objectOf(personal['variables'], 'variables'),
      template: wire.template,
      templateVersion: wire.template_version,
      causedAt: wire.caused_at,
      // Records of before there were delays have none.
      sendAt: wire.send_at === 0 ? wire.caused_at : wire.send_at,
      notAfter: wire.not_after,
      traceparent: wire.traceparent,
      ...(wire.test_by !== null && {
        test: {
          by: wire.test_by,
          ...(request !== undefined && { request: textOf(request, 'test_request') }),
        },
      }),
      ...readSentBy(wire.sent_by),
      ...(wire.deadline !== null && { deadline: wire.deadline }),
      ...(digestKey !== undefined && { digestKey: textOf(digestKey, 'digest_key') }),
    };
  },
} satisfies RecordKind<Intent, WireIntent>;
