import type { Trigger } from '@carillon/domain';
import type { EventId, JsonObject, TriggerId } from '@carillon/kernel';
import type { RecordShape } from './codec.ts';
import { listOf, objectOf, readPersonal, textOf, writePersonal } from './personal.ts';

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
  not_after: number;
  traceparent: string | null;
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
  not_after: trigger.notAfter,
  traceparent: trigger.traceparent,
});

/** Whom it asks about and what of the event goes with it. */
export const personalOfTrigger = ({ userIds, event }: Trigger) => ({ user_ids: userIds, event });

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
});

export const triggerShape: RecordShape<Trigger, WireTrigger> = {
  write: (trigger) => ({ ...writeTriggerFacts(trigger), personal: writePersonal(personalOfTrigger(trigger)) }),
  read: ({ personal, ...facts }) => readTrigger(facts, readPersonal(personal)),
};
