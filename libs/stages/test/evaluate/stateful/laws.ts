import fc from 'fast-check';
import type { Intent } from '@carillon/domain/deliveries';
import type { EventId, IntentId, JsonObject, TriggerId } from '@carillon/kernel';
import { givenIds } from '@carillon/testing/given';
import { expect } from 'vitest';
import { randomCase, type Case, type CaseRecord } from './cases.ts';
import { firingsOf, type Firing } from './oracle.ts';
import { configurationsOf, intentsOf, versionOf, type Run } from './product-run.ts';

const { derive } = givenIds;
const DAY = 86_400_000;

/** CEL writes no zeros at the end of a fraction. */
const celTime = (at: number): string => {
  const [seconds = '', fraction = ''] = new Date(at).toISOString().slice(0, -1).split('.');
  const digits = fraction.replace(/0+$/, '');
  return digits === '' ? `${seconds}Z` : `${seconds}.${digits}Z`;
};

/** Variables of a rule with totals: the first total as the rule names it, and all totals as templates see them. */
const totalVariables = (totals: readonly number[]): JsonObject =>
  totals.length === 0
    ? {}
    : { n: totals[0] ?? 0, totals: Object.fromEntries(totals.map((value, at) => [`t${at}`, value])) };

/** The intent that docs say a firing makes. */
function expectedIntent({ rule, event, record, deadline, was, totals }: Firing, given: Case): Intent {
  const source = given.records[event];
  const configuration = configurationsOf(given)[record];
  if (source?.holds !== 'event' || !configuration) throw new Error('an event');
  const { id, body } = source;
  const ruleId = `shop/n.r${rule}`;
  const triggerId = derive('trigger', ruleId, id, '') as TriggerId;
  const uniqueId = `${id}:${body.email}`;
  const causedAt = deadline ?? source.at;
  const spec = given.rules[rule];
  const due = deadline === null ? null : celTime(deadline);
  return {
    id: derive('intent', triggerId, 'email', uniqueId, body.email) as IntentId,
    slot: { workspace: 'shop', notificationId: 'shop/n', channel: 'email', uniqueId },
    notification: 'n',
    rule: `n.r${rule}`,
    ruleId,
    ruleVersion: versionOf(configuration, rule),
    configNumber: configuration.number,
    eventId: id as EventId,
    eventPosition: `carillon.events/0@${event}`,
    triggerId,
    to: body.email,
    person: body.email,
    variables: {
      kind: body.kind,
      ...(spec?.wait && { due }),
      ...(was !== undefined && { was }),
      ...totalVariables(totals),
    },
    template: 'mail',
    templateVersion: 1,
    causedAt,
    ...(deadline !== null && { deadline }),
    sendAt: causedAt,
    notAfter: causedAt + DAY,
    traceparent: null,
  };
}

/** One intent per id: the ledger takes the first. */
function expectedIntents(given: Case): readonly Intent[] {
  const intents = new Map<string, Intent>();
  for (const firing of firingsOf(given).toSorted((a, b) => a.record - b.record)) {
    const intent = expectedIntent(firing, given);
    if (!intents.has(intent.id)) intents.set(intent.id, intent);
  }
  return [...intents.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Intents without what a tick between two records moves: their offsets. */
const withoutPositions = (intents: readonly Intent[]) => intents.map((intent) => ({ ...intent, eventPosition: '' }));

/** The case without edits: one that is published between a deadline and a tick counts for the firing. */
const withTicks = (given: Case, spans: readonly number[]): Case => ({
  ...given,
  records: given.records.flatMap((record, index): CaseRecord[] => {
    if (record.holds === 'edit') return [];
    const span = spans[index];
    return span === undefined ? [record] : [record, { at: record.at + span, holds: 'tick' }];
  }),
});

const WHOLE: Run = { batch: 100, crashes: new Set(), sweeps: false };
const anyRun = fc.record({
  batch: fc.integer({ min: 1, max: 5 }),
  crashes: fc.uniqueArray(fc.nat(8), { maxLength: 3 }).map((numbers) => new Set(numbers)),
  sweeps: fc.boolean(),
});

export type Law = { readonly law: string; readonly check: (numRuns: number) => void };

export const STATEFUL_LAWS: readonly Law[] = [
  {
    law: 'random rules over random records make the intents of the oracle, byte for byte',
    check: (numRuns) =>
      fc.assert(
        fc.property(randomCase, (given) => {
          expect(intentsOf(given, WHOLE)).toEqual(expectedIntents(given));
        }),
        { numRuns },
      ),
  },
  {
    law: 'other borders of batches, crashes between their saves, and removed states change no intent',
    check: (numRuns) =>
      fc.assert(
        fc.property(randomCase, anyRun, (given, run) => {
          expect(intentsOf(given, run)).toEqual(expectedIntents(given));
        }),
        { numRuns },
      ),
  },
  {
    law: 'a tick changes when a wait ends, never how',
    check: (numRuns) =>
      fc.assert(
        fc.property(randomCase, fc.array(fc.constantFrom(0, 1, 999, 1000, 1001, 3000)), (given, spans) => {
          const ordered = { ...given, records: given.records.toSorted((a, b) => a.at - b.at) };
          const plain = intentsOf(withTicks(ordered, []), WHOLE);
          const ticking = withTicks(ordered, spans);
          const records = ticking.records.toSorted((a, b) => a.at - b.at);
          expect(withoutPositions(intentsOf({ ...ticking, records }, WHOLE))).toEqual(withoutPositions(plain));
        }),
        { numRuns },
      ),
  },
];
