import type { Lookup, LookupItem, LookupProblem, LookupProblemKind } from '@carillon/domain';
import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import { InvalidRecord, type RecordShape } from './codec.ts';
import { listOf, objectOf, readPersonal, textOf, textOrNull, wordOf, writePersonal } from './personal.ts';
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
export const lookupShape: RecordShape<Lookup, WireLookup> = {
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
};

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
