import type { Lookup, LookupItem, LookupProblem, LookupProblemKind } from '@carillon/domain/lookups';
import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import { InvalidRecord } from './codec.ts';
import type { RecordKind } from './record-kind.ts';
import { listOf, objectOf, readPersonal, textOf, textOrNull, wordOf, writePersonal } from './personal.ts';
import { DEADLINE_FIELD } from './deadline-field.ts';
import { SENT_BY_FIELD } from './sent-by.ts';
import { personalOfTrigger, readTrigger, writeTriggerFacts, type WireTriggerFacts } from './trigger.ts';

const PROBLEMS: Readonly<Record<LookupProblemKind, true>> = {
  missing: true,
  extra: true,
  duplicate: true,
  invalid: true,
  invalid_address: true,
  not_in_order: true,
  too_many: true,
};

type WireLookup = {
  trigger: WireTriggerFacts;
  call_id: string;
  asked_at: number;
  answered_at: number;
  status: number;
  calls: number;
  shared_by: number;
  personal: Buffer;
};

/** The whole answer is personal: who it is about, by which addresses, and what was wrong with it. */
export const lookupRecord = {
  name: 'lookup',
  topic: 'carillon.lookups',
  owner: 'engine',
  description: 'One recorded answer of a partner for each trigger; the first one wins.',
  key: 'trigger id',
  partitions: 8,
  retention: '30d',
  schema: {
    type: 'record',
    name: 'Lookup',
    namespace: 'carillon',
    doc: 'The recorded answer of a partner for one trigger. The first one of a trigger on the log counts.',
    fields: [
      {
        name: 'trigger',
        type: {
          type: 'record',
          name: 'LookupTrigger',
          doc: 'The trigger that was asked for; what is personal in it stands in the personal part of the lookup.',
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
          ],
        },
      },
      { name: 'call_id', type: 'string', doc: 'Request id of the call, as the partner saw it.' },
      { name: 'asked_at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'answered_at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'status', type: 'int', doc: 'HTTP status of the answer.' },
      { name: 'calls', type: 'int', doc: 'Calls made for the trigger, this one included.' },
      { name: 'shared_by', type: 'int', doc: 'Triggers that shared the call.' },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {user_ids, event, items, problems, problem_counts}: items as {user_id, to, variables}, problems as {kind, index, user_id, detail}. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (lookup) => ({
    trigger: writeTriggerFacts(lookup.trigger),
    call_id: lookup.callId,
    asked_at: lookup.askedAt,
    answered_at: lookup.answeredAt,
    status: lookup.status,
    calls: lookup.calls,
    shared_by: lookup.sharedBy,
    personal: writePersonal({
      ...personalOfTrigger(lookup.trigger),
      items: lookup.items.map(({ userId, to, variables }) => ({ user_id: userId, to: { ...to }, variables })),
      problems: lookup.problems.map(({ kind, index, userId, detail }) => ({ kind, index, user_id: userId, detail })),
      problem_counts: { ...lookup.problemCounts },
    }),
  }),
  read: (wire) => {
    const personal = readPersonal(wire.personal);
    return {
      trigger: readTrigger(wire.trigger, personal),
      callId: wire.call_id,
      askedAt: wire.asked_at,
      answeredAt: wire.answered_at,
      status: wire.status,
      calls: wire.calls,
      sharedBy: wire.shared_by,
      items: listOf(personal['items'], 'items').map(readItem),
      problems: listOf(personal['problems'], 'problems').map(readProblem),
      problemCounts: readCounts(objectOf(personal['problem_counts'], 'problem_counts')),
    };
  },
} satisfies RecordKind<Lookup, WireLookup>;

function readItem(value: Json): LookupItem {
  const item = objectOf(value, 'an item');
  const to = objectOf(item['to'], 'to');
  return {
    userId: textOrNull(item['user_id'], 'user_id'),
    to: {
      email: textOrNull(to['email'], 'to.email'),
      phone: textOrNull(to['phone'], 'to.phone'),
      token: textOrNull(to['token'], 'to.token'),
    },
    variables: objectOf(item['variables'], 'variables'),
  };
}

function readProblem(value: Json): LookupProblem {
  const problem = isJsonObject(value) ? value : {};
  const index = problem['index'] ?? null;
  if (index !== null && typeof index !== 'number') throw new InvalidRecord('the index of a problem is no number');
  return {
    kind: wordOf(textOf(problem['kind'], 'the kind of a problem'), PROBLEMS, 'kind'),
    index,
    userId: textOrNull(problem['user_id'], 'user_id'),
    detail: textOf(problem['detail'], 'detail'),
  };
}

function readCounts(counts: JsonObject): Lookup['problemCounts'] {
  const read = Object.entries(counts).map(([kind, count]) => {
    if (typeof count !== 'number') throw new InvalidRecord('a count of problems is no number');
    return [wordOf(kind, PROBLEMS, 'kind'), count] as const;
  });
  return Object.fromEntries(read);
}
