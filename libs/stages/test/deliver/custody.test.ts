import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, type Intent, type Outcome, endUnsent } from '@carillon/domain/deliveries';
import { err, type DeliveryId } from '@carillon/kernel';
import type { LogRecord, RecordCodec } from '@carillon/ports';
import { givenIntent, SENT_BY_ADA } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { createCustodyStage, deliveryIdOf, isLeftOut, publishOutcomes, sweep } from '../../src/index.ts';

let topology: Topology;
const hinted: Delivery[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  hinted.length = 0;
});
afterEach(() => topology.close());

const STATE = { partition: 0, configNumber: -1, watermark: 0 };
let offset = 0;
const recordOf = (intent: Intent | Uint8Array): LogRecord => ({
  topic: 'carillon.intents',
  partition: 0,
  key: 'k',
  value: intent instanceof Uint8Array ? intent : topology.ports.codecs.intent.encode(intent),
  headers: {},
  offset: (offset += 1),
  time: topology.clock.now(),
});
const take = (...intents: readonly (Intent | Uint8Array)[]) =>
  createCustodyStage({
    ...topology.ports,
    due: (list) => void hinted.push(...list.map(({ delivery }) => delivery)),
  }).handle(intents.map(recordOf), STATE);
const held = async (intent: Intent): Promise<Delivery> => {
  const found = await topology.data.ledger.get(deliveryIdOf(intent, topology.ids));
  if (!found) throw new Error('nothing holds the slot');
  return found;
};
const told = async (): Promise<Outcome[]> =>
  (await topology.records('carillon.outcomes')).flatMap((record) => {
    const read = topology.ports.codecs.outcome.decode(record.value);
    return read.ok ? [read.value] : [];
  });
const expire = async (intent: Intent): Promise<void> => {
  const { now, derive } = { now: topology.clock.now(), derive: topology.ids.derive };
  const next = endUnsent(await held(intent), 'EXPIRED', 'not_after_passed', '', { now, derive });
  if (next) expect(await topology.data.ledger.replace(next)).toBe('done');
};
const kinds = ({ fates }: Awaited<ReturnType<typeof take>>) =>
  fates.map((fate) => ('reason' in fate ? fate.reason : fate.kind));

describe('storing messages to send in the ledger', () => {
  it('stores each message in the ledger before the batch ends, and wakes the sender for due ones', async () => {
    const [a, b] = [givenIntent('a', { uniqueId: '1' }), givenIntent('b', { uniqueId: '2' })];
    expect(kinds(await take(a, b))).toEqual(['done', 'done']);
    expect(await held(a)).toMatchObject({ state: 'WAITING', intent: a, version: 1 });
    expect(hinted.map(({ intent }) => intent.id)).toEqual([a.id, b.id]);
  });

  it('cancels messages of events that a restore called off, also if they replace an earlier unsent message', async () => {
    const early = { eventPosition: 'carillon.events/0@41' };
    const [a, later] = [
      givenIntent('a', { uniqueId: '1', ...early }),
      givenIntent('b', { uniqueId: '2', eventPosition: 'carillon.events/0@42' }),
    ];
    const elsewhere = givenIntent('c', { uniqueId: '3', eventPosition: 'carillon.events/1@41' });
    const expired = givenIntent('d', { uniqueId: '4' });
    const overIt = givenIntent('e', { uniqueId: '4', ...early });
    await take(expired);
    await expire(expired);
    const stage = createCustodyStage({ ...topology.ports, due: () => undefined, calledOffBelow: new Map([[0, 42]]) });
    await stage.handle([a, later, elsewhere, overIt].map(recordOf), STATE);
    expect(await held(a)).toMatchObject({ state: 'CANCELLED', reason: 'operator_cancel', nextAt: null });
    expect(await held(overIt)).toMatchObject({ state: 'CANCELLED', intent: overIt });
    for (const waits of [later, elsewhere]) expect(await held(waits)).toMatchObject({ state: 'WAITING' });
    expect((await told()).map(({ state }) => state)).toContain('CANCELLED');
  });

  it('keeps messages whose rule waited in the deployment that was moved here', async () => {
    const moved = givenIntent('moved', { eventPosition: 'carillon.events/0@-1' });
    await take(moved);
    expect(await held(moved)).toMatchObject({ state: 'WAITING', intent: moved });
  });

  it('keeps messages of a sending job (a person sends missed messages), also of events that a restore called off', async () => {
    const early = { eventPosition: 'carillon.events/0@41', sentBy: SENT_BY_ADA };
    const sent = givenIntent('sent', { uniqueId: '1', ...early });
    const expired = givenIntent('expired', { uniqueId: '2' });
    const overIt = givenIntent('over it', { uniqueId: '2', ...early });
    await take(expired);
    await expire(expired);
    const stage = createCustodyStage({ ...topology.ports, due: () => undefined, calledOffBelow: new Map([[0, 42]]) });
    await stage.handle([sent, overIt].map(recordOf), STATE);
    for (const intent of [sent, overIt]) expect(await held(intent)).toMatchObject({ state: 'WAITING', intent });
  });

  it('cancels messages of a sending job that a restore called off, also if a partner answers later', async () => {
    const intent = givenIntent('sent', { uniqueId: '1', sentBy: SENT_BY_ADA });
    const calledOffJobs = new Set([SENT_BY_ADA.job]);
    const stage = createCustodyStage({ ...topology.ports, due: () => undefined, calledOffJobs });
    await stage.handle([recordOf(intent)], STATE);
    expect(await held(intent)).toMatchObject({ state: 'CANCELLED', reason: 'operator_cancel', nextAt: null });
  });

  it('names the document of a message by a keyed hash, so that nobody reads the unique_id from it', async () => {
    const intent = givenIntent('a', { uniqueId: 'ada@example.com' });
    expect(deliveryIdOf(intent, topology.ids)).toMatch(/^dlv_[0-9A-Z]{26}$/);
  });

  it('changes nothing if the batch is repeated', async () => {
    const [a, again, other] = [givenIntent('a'), givenIntent('again'), givenIntent('other', { uniqueId: '2' })];
    await take(a, again, other);
    const before = [await held(a), await held(other)];
    const outcomes = await told();
    expect(kinds(await take(a, again, other))).toEqual(['known', 'known', 'known']);
    expect([await held(a), await held(other)]).toEqual(before);
    expect(await told()).toEqual(outcomes);
  });

  it('counts duplicates in a batch, and publishes each under its own id without storing it in the document', async () => {
    const [first, second, third] = [givenIntent('a'), givenIntent('b'), givenIntent('c')];
    expect(kinds(await take(first, second, third))).toEqual(['done', 'duplicate', 'duplicate']);
    expect(await held(first)).toMatchObject({ intent: first, duplicates: 2, unpublished: [] });
    const outcomes = await told();
    expect(outcomes.map(({ intentId, reason }) => [intentId, reason])).toEqual([
      [second.id, 'duplicate'],
      [third.id, 'duplicate'],
    ]);
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(2);
  });

  it('publishes each duplicate at once, so that the document of a message with many duplicates does not grow', async () => {
    const intents = Array.from({ length: 60 }, (_, index) => givenIntent(`i${index}`));
    for (const intent of intents) await take(intent);
    const document = await held(intents[0] ?? givenIntent('none'));
    expect(document).toMatchObject({ duplicates: 59, unpublished: [] });
    expect(await told()).toHaveLength(59);
  });

  it('publishes at once that an address is missing', async () => {
    const intent = givenIntent('a', { to: null });
    await take(intent);
    expect(await held(intent)).toMatchObject({ state: 'SUPPRESSED', unpublished: [] });
    expect(await told()).toMatchObject([{ reason: 'no_address' }]);
    expect(hinted.filter(({ state }) => state === 'WAITING')).toEqual([]);
  });

  it('publishes at once that an address is invalid, without quoting the address', async () => {
    for (const to of [
      'ada@localhost',
      'ada@[10.0.0.1]',
      '|mail@example.com',
      'a%b@example.com',
      'mailto:ada@example.com',
    ]) {
      const intent = givenIntent(to, { to, uniqueId: to });
      await take(intent);
      expect(await held(intent), to).toMatchObject({
        state: 'SUPPRESSED',
        reason: 'invalid_address',
        detail: "the recipient's address is no email address",
      });
    }
    expect(hinted.filter(({ state }) => state === 'WAITING')).toEqual([]);
  });

  it('lets a new message replace one with the same unique_id that ended unsent, and wakes the sender', async () => {
    const [first, second] = [givenIntent('a'), givenIntent('b')];
    await take(first);
    await expire(first);
    expect(kinds(await take(second))).toEqual(['done']);
    expect(await held(first)).toMatchObject({ state: 'WAITING', intent: second });
    expect(hinted.at(-1)?.intent.id).toBe(second.id);
  });

  it('stores one of two messages with the same unique_id and counts the other once, if two workers store them at the same time', async () => {
    const intents = Array.from({ length: 12 }, (_, index) => givenIntent(`i${index}`));
    const halves = [intents.slice(0, 6), intents.slice(6), intents.slice(3, 9)];
    const results = await Promise.all(halves.map((half) => take(...half)));
    const fates = results.flatMap(kinds);
    expect(fates.filter((kind) => kind === 'done')).toHaveLength(1);
    expect(fates.filter((kind) => kind === 'duplicate')).toHaveLength(11);
    expect(fates.filter((kind) => kind === 'known')).toHaveLength(6);
    const document = await held(intents[0] ?? givenIntent('none'));
    expect(document.duplicates).toBe(11);
    expect(document.judged.toSorted()).toEqual(intents.map(({ id }) => id).toSorted());
    expect(new Set((await told()).map(({ id }) => id)).size).toBe(11);
  });

  it('lets exactly one message replace an ended one, if two workers try at the same time', async () => {
    const first = givenIntent('first');
    await take(first);
    await expire(first);
    const rivals = ['b', 'c', 'd', 'e'].map((name) => givenIntent(name));
    const results = await Promise.all(rivals.map((rival) => take(rival)));
    expect(results.flatMap(kinds).toSorted()).toEqual(['done', 'duplicate', 'duplicate', 'duplicate']);
  });

  it('makes dead letters of unreadable records with their bytes, and processes the others', async () => {
    const intent = givenIntent('a');
    const result = await take(new Uint8Array([0, 1, 2]), intent);
    expect(result.fates).toHaveLength(2);
    const letter = topology.ports.codecs.deadLetter.decode(result.outputs[0]?.value ?? new Uint8Array());
    expect(letter).toMatchObject({ ok: true, value: { stage: 'deliver', value: new Uint8Array([0, 1, 2]) } });
    expect((await held(intent)).state).toBe('WAITING');
  });

  it('makes a dead letter with only the position of a record that is too large to be copied', async () => {
    const large = new Uint8Array(4_000_000);
    const { outputs } = await take(large);
    const letter = topology.ports.codecs.deadLetter.decode(outputs[0]?.value ?? new Uint8Array());
    if (!letter.ok) throw new Error(letter.error.detail);
    expect(isLeftOut(letter.value)).toBe(true);
    expect(letter.value).toMatchObject({ topic: 'carillon.intents', offset, reason: 'unknown_schema' });
    expect(letter.value.detail).toMatch(/with 40000\d\d bytes too large to be stored here: it is on the log/);
    expect(outputs[0]?.value.length).toBeLessThan(1_000);
  });
});

describe('a message record with a schema that the program does not know', () => {
  /** The codec of a program that has not met the schema of any intent yet. */
  const takeWith = (learn: (codec: RecordCodec<Intent>) => Promise<boolean>, record: LogRecord) => {
    const { intent } = topology.ports.codecs;
    let known = false;
    const unlearned: RecordCodec<Intent> = {
      ...intent,
      decode: (bytes) => (known ? intent.decode(bytes) : err({ reason: 'unknown_schema', detail: 'schema 7' })),
      learn: async () => (known = await learn(intent)),
    };
    const codecs = { ...topology.ports.codecs, intent: unlearned };
    return createCustodyStage({ ...topology.ports, codecs, due: () => undefined }).handle([record], STATE);
  };

  it('is accepted if the schema registry knows the schema', async () => {
    const intent = givenIntent('newer');
    expect(kinds(await takeWith(async () => true, recordOf(intent)))).toEqual(['done']);
    expect((await held(intent)).intent).toEqual(intent);
  });

  it('becomes a dead letter if the registry does not know the schema', async () => {
    expect(kinds(await takeWith(async () => false, recordOf(givenIntent('a'))))).toEqual(['unknown_schema']);
  });

  it('is retried with its batch while the registry is unavailable', async () => {
    const away = takeWith(() => Promise.reject(new Error('the registry is away')), recordOf(givenIntent('a')));
    await expect(away).rejects.toThrow('the registry is away');
  });
});

describe('outcomes of deliveries', () => {
  it('are on the log before they are removed from the document, and are published again under the same id after a crash', async () => {
    const intent = givenIntent('a');
    await take(intent);
    await expire(intent);
    const { ledger } = topology.data;
    const dying = { ...topology.ports, ledger: { ...ledger, replace: () => Promise.reject(new Error('died')) } };
    await expect(publishOutcomes([await held(intent)], dying)).rejects.toThrow('died');
    expect((await held(intent)).unpublished).toHaveLength(1);
    topology.clock.pass(6000);
    expect(await sweep(topology.ports, topology.clock.now())).toEqual({ doubted: 0, published: 1 });
    expect((await held(intent)).unpublished).toEqual([]);
    const outcomes = await told();
    expect(outcomes).toHaveLength(2);
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  it('stay in the document while the log is unavailable', async () => {
    const intent = givenIntent('a');
    await take(intent);
    await expire(intent);
    const { log } = topology.data;
    const away = { ...topology.ports, log: { ...log, append: () => Promise.reject(new Error('away')) } };
    await expect(publishOutcomes([await held(intent)], away)).rejects.toThrow('away');
    expect((await held(intent)).unpublished).toHaveLength(1);
    expect(await told()).toEqual([]);
  });

  it('that are added during publishing are published in the next round', async () => {
    const [first, second] = [givenIntent('a'), givenIntent('b')];
    await take(first);
    await expire(first);
    const seen = await held(first);
    await take(second);
    await publishOutcomes([seen], topology.ports);
    const { state, unpublished } = await held(first);
    expect([state, unpublished.filter(({ state: ended }) => ended === 'EXPIRED')]).toEqual(['WAITING', []]);
  });

  it('are published also if the document of the delivery was deleted', async () => {
    const intent = givenIntent('a', { to: null });
    const ghost = { ...(await take(intent).then(() => held(intent))), id: 'dlv_gone' as DeliveryId };
    await expect(publishOutcomes([ghost], topology.ports)).resolves.toBe(ghost.unpublished.length);
  });
});
