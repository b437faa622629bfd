import type { DeadLetterBody } from '@carillon/contracts';
import type { DeadLetter } from '@carillon/domain/events';
import type { DeadLetterRow } from '@carillon/ports';
import { deadLetterRecord } from '@carillon/stages';
import { givenIntent, givenLookup, givenTrigger, neverYield } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFacts } from '../src/letter-facts.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

/** Puts a dead letter on the log, and returns what people read of it. */
async function factsOf(topic: DeadLetter['topic'], value: Uint8Array, headers: DeadLetter['headers'] = {}) {
  const { log } = topology.data;
  const letter: DeadLetter = {
    id: 'ded_1',
    stage: 'ask',
    workspace: 'shop',
    topic,
    partition: 4,
    offset: 0,
    key: 'k',
    headers,
    value,
    reason: 'partner_refused',
    detail: '404',
    at: 1,
  };
  const { end } = await log.bounds('carillon.dead-letters', 0);
  await log.append([deadLetterRecord(letter, { log, codecs: topology.ports.codecs })]);
  const row = { id: 'ded_1', ownPartition: 0, ownOffset: end } as DeadLetterRow;
  const [facts] = await withFacts([row], () => ({}), { log, codecs: topology.ports.codecs, slice: neverYield });
  return facts as Partial<DeadLetterBody>;
}

describe('a dead letter', () => {
  it('of a list leaves others a turn after each eight, because its record may hold 2 MiB', async () => {
    let turns = 0;
    const yieldSlice = async (): Promise<void> => void (turns += 1);
    const rows = Array.from({ length: 17 }, () => ({ ownPartition: 0, ownOffset: 0 }) as DeadLetterRow);
    const { log } = topology.data;
    const ports = { log, codecs: topology.ports.codecs, slice: { isExpired: () => true, yield: yieldSlice } };
    expect(await withFacts(rows, () => ({}), ports)).toHaveLength(17);
    expect(turns).toBe(3);
  });

  it('of a lookup names partner, notification, people and event, and that a redrive asks again', async () => {
    const trigger = givenTrigger({ integration: 'crm', userIds: ['7', '8', '9'] });
    expect(await factsOf('carillon.triggers', topology.ports.codecs.trigger.encode(trigger))).toEqual({
      partner: 'crm',
      notification: trigger.notification,
      rule: trigger.rule,
      person: '7',
      people: 3,
      event_id: trigger.eventId,
      redrive: 'Asks crm again, with as much time as at first. Then the people are notified.',
    });
  });

  it('of an answer says that a redrive does not ask the partner again', async () => {
    const lookup = givenLookup({ trigger: givenTrigger({ integration: 'crm' }) });
    expect(await factsOf('carillon.lookups', topology.ports.codecs.lookup.encode(lookup))).toMatchObject({
      partner: 'crm',
      event_id: lookup.trigger.eventId,
      redrive: 'Makes the messages from the stored answer. The partner is not asked again.',
    });
  });

  it('of a message names the person', async () => {
    const intent = givenIntent('a');
    expect(await factsOf('carillon.intents', topology.ports.codecs.intent.encode(intent))).toMatchObject({
      partner: null,
      rule: intent.rule,
      person: intent.person,
      people: 1,
      event_id: intent.eventId,
    });
  });

  it('of an event names the event', async () => {
    const value = new TextEncoder().encode('{');
    expect(await factsOf('carillon.events', value, { event_id: 'evt_1' })).toMatchObject({
      event_id: 'evt_1',
      redrive: 'Evaluates the event again. People who were notified already are not notified again.',
    });
  });

  it('whose record cannot be read is about nothing known', async () => {
    expect(await factsOf('carillon.triggers', new Uint8Array([1]))).toMatchObject({
      partner: null,
      person: null,
      people: 0,
    });
  });
});
