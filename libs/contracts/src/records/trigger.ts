import type { ChangeOp, UnknownValues, VisibleChange } from '@carillon/domain/changes';
import type { Trigger } from '@carillon/domain/lookups';
import { readTotals } from '@carillon/domain/rules';
import type { EventId, JsonObject, TriggerId } from '@carillon/kernel';
import type { RecordKind } from './record-kind.ts';
import { listOf, objectOf, readPersonal, textOf, wordOf, writePersonal } from './personal.ts';
import { DEADLINE_FIELD } from './deadline-field.ts';
import { readSentBy, SENT_BY_FIELD, writeSentBy, type WireSentBy } from './sent-by.ts';

/** A trigger without what is personal in it: the record of its own, and the part of a lookup. */
export type WireTriggerFacts = {
  id: string;
  workspace: string;
  notification: string;
  rule: string;
  rule_id: string;
  rule_version: number;
  config_number: number;
  integration: string;
  event_id: string;
  event_position: string;
  part: number;
  parts: number;
  time: number;
  caused_at: number;
  deadline: number | null;
  not_after: number;
  traceparent: string | null;
  sent_by: WireSentBy | null;
};
type WireTrigger = WireTriggerFacts & { personal: Buffer };

export const writeTriggerFacts = (trigger: Trigger): WireTriggerFacts => ({
  id: trigger.id,
  workspace: trigger.workspace,
  notification: trigger.notification,
  rule: trigger.rule,
  rule_id: trigger.ruleId,
  rule_version: trigger.ruleVersion,
  config_number: trigger.configNumber,
  integration: trigger.integration,
  event_id: trigger.eventId,
  event_position: trigger.eventPosition,
  part: trigger.part,
  parts: trigger.parts,
  time: trigger.time,
  caused_at: trigger.causedAt,
  deadline: trigger.deadline ?? null,
  not_after: trigger.notAfter,
  traceparent: trigger.traceparent,
  sent_by: writeSentBy(trigger.sentBy),
});

/** Returns the personal data of a trigger: the user ids, and what it carries of the event. */
export const personalOfTrigger = ({ userIds, event, change, totals }: Trigger): JsonObject => ({
  user_ids: userIds,
  event,
  ...(change && { change }),
  ...(totals && { totals }),
});

export const readTrigger = (wire: WireTriggerFacts, personal: JsonObject): Trigger => ({
  id: wire.id as TriggerId,
  workspace: wire.workspace,
  notification: wire.notification,
  rule: wire.rule,
  ruleId: wire.rule_id,
  ruleVersion: wire.rule_version,
  configNumber: wire.config_number,
  integration: wire.integration,
  eventId: wire.event_id as EventId,
  eventPosition: wire.event_position,
  part: wire.part,
  parts: wire.parts,
  userIds: listOf(personal['user_ids'], 'user_ids').map((id) => textOf(id, 'a user id')),
  event: objectOf(personal['event'], 'event'),
  time: wire.time,
  causedAt: wire.caused_at,
  notAfter: wire.not_after,
  traceparent: wire.traceparent,
  ...readSentBy(wire.sent_by),
  ...(personal['change'] !== undefined && { change: readVisibleChange(objectOf(personal['change'], 'change')) }),
  ...(personal['totals'] !== undefined && { totals: readTotals(personal['totals']) }),
  ...(wire.deadline !== null && { deadline: wire.deadline }),
});

const OPS: Readonly<Record<ChangeOp, true>> = { create: true, update: true, delete: true, snapshot: true };

/** Reads the part of a change that the evaluate stage wrote. Ignores fields added by later releases. */
function readVisibleChange(change: JsonObject): VisibleChange {
  const source = objectOf(change['source'], 'source');
  const { previous, unknown } = change;
  const { integration, table, tx, position } = source;
  return {
    op: wordOf(textOf(change['op'], 'op'), OPS, 'op'),
    source: {
      integration: textOf(integration, 'integration'),
      table: textOf(table, 'table'),
      tx: typeof tx === 'number' ? tx : 0,
      position: textOf(position, 'position'),
    },
    ...(previous !== undefined && { previous: objectOf(previous, 'previous') }),
    ...(unknown !== undefined && { unknown: readUnknown(objectOf(unknown, 'unknown')) }),
  };
}

const readUnknown = ({ fields, table }: JsonObject): UnknownValues => ({
  fields: listOf(fields, 'fields').map((name) => textOf(name, 'a field')),
  table: textOf(table, 'table'),
});

export const triggerRecord = {
  name: 'trigger',
  topic: 'carillon.triggers',
  owner: 'engine',
  description: 'Rules that fired and whose recipients a partner has to name.',
  key: 'trigger id',
  partitions: 8,
  retention: '30d',
  schema: {
    type: 'record',
    name: 'Trigger',
    namespace: 'carillon',
    doc: 'A rule fired and a partner has to name the recipients. Its id is a hash of rule, event and part, so evaluating twice yields the same record.',
    fields: [
      { name: 'id', type: 'string', doc: 'trg_ and 26 characters.' },
      { name: 'workspace', type: 'string' },
      { name: 'notification', type: 'string', doc: 'Name at the time of evaluation.' },
      { name: 'rule', type: 'string', doc: 'notification.rule at the time of evaluation.' },
      { name: 'rule_id', type: 'string', doc: 'Stable id of the rule.' },
      { name: 'rule_version', type: 'long' },
      { name: 'config_number', type: 'long', doc: 'Configuration that judged the event.' },
      { name: 'integration', type: 'string', doc: 'Name of the partner that is asked.' },
      { name: 'event_id', type: 'string' },
      { name: 'event_position', type: 'string', doc: 'topic/partition@offset of the event.' },
      { name: 'part', type: 'int', doc: 'A long list of ids is several triggers: number of this one, from 0.' },
      { name: 'parts', type: 'int' },
      { name: 'time', type: { type: 'long', logicalType: 'timestamp-millis' }, doc: 'Time of the event.' },
      {
        name: 'caused_at',
        type: { type: 'long', logicalType: 'timestamp-millis' },
        doc: 'Append time of the event, or the deadline by which the rule fired.',
      },
      DEADLINE_FIELD,
      {
        name: 'not_after',
        type: { type: 'long', logicalType: 'timestamp-millis' },
        doc: 'Nobody is asked after this, and nothing is sent.',
      },
      { name: 'traceparent', type: ['null', 'string'], default: null },
      SENT_BY_FIELD,
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {user_ids, event, change, totals}: the ids to ask about, the fields of the event that rule and templates refer to, what rules see of a change, and the totals of the rule. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (trigger) => ({ ...writeTriggerFacts(trigger), personal: writePersonal(personalOfTrigger(trigger)) }),
  read: ({ personal, ...facts }) => readTrigger(facts, readPersonal(personal)),
} satisfies RecordKind<Trigger, WireTrigger>;
