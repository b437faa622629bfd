import { createErasureMatcher, nameHash } from '@carillon/domain/erasures';
import { emptyMemory, formatMemory } from '@carillon/domain/rules';
import type { LogId } from '@carillon/kernel';
import type { ErasureWork, RuleState } from '@carillon/ports';
import { COLLECTIONS, createStores, withHashedPeople } from '@carillon/stores';
import { deliveryOf } from '@carillon/testing';
import { beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import type { MongoStores } from '../src/index.ts';
import { usePlayground } from './open-mongo.ts';

const keyed = (...parts: readonly string[]): string => parts.join('-').replaceAll('@', '-at-').toUpperCase();
const BOB = 'bob@example.com';
const matcher = createErasureMatcher(
  { workspace: 'shop', hashes: [BOB, 'u-bob'].map((name) => nameHash(name, keyed)) },
  keyed,
);
const WORK: ErasureWork = {
  matcher,
  isOfPerson: () => false,
  isEntityOfPerson: ({ key }) => key === 'u-bob',
  isErasedEvent: (id) => id === 'evt_bob',
  judge: async () => null,
};
const MOMENT = { now: 5_000, derive: (...parts: readonly string[]) => parts.join('-') } as never;

describeWith('mongodb', 'An erasure of the stores in MongoDB', () => {
  const playground = usePlayground();
  let mongo: MongoStores;
  let stores: ReturnType<typeof createStores>;
  beforeAll(async () => {
    mongo = await playground.open({ collections: COLLECTIONS });
    stores = createStores(mongo.documents);
  }, 300_000);

  async function erase(): Promise<readonly string[]> {
    const places: string[] = [];
    for await (const entries of mongo.eraser.entries(WORK, MOMENT)) {
      for (const entry of entries) {
        places.push(entry.place);
        if (entry.undecided === null) await entry.erase();
      }
    }
    return places;
  }

  it('empties every store of the person’s data once, and keeps opt-outs and suppressions under a hash', async () => {
    const bobs = deliveryOf({ intent: { to: BOB, person: 'u-bob', variables: { name: 'Bob' } }, state: 'SENT' });
    const adas = deliveryOf();
    await mongo.ledger.insert([bobs, adas]);
    await mongo.suppressions.add({
      workspace: 'shop',
      channel: 'email',
      address: BOB,
      source: 'operator',
      detail: 'bob asked',
      deliveryId: null,
      at: 1,
    });
    const word = { workspace: 'shop', person: 'u-bob', target: 'all', optedOut: true, at: 1, source: 'api' };
    const consents = withHashedPeople(stores.consents, { keyed });
    const said = {
      workspace: 'shop',
      person: 'u-bob',
      version: 1,
      words: [{ ...word, id: 'con_1' }],
      unpublished: [],
      updatedAt: 1,
    };
    await consents.replace(said as never);
    await stores.inbox.put({
      id: 'inb_1',
      workspace: 'shop',
      deliveryId: bobs.id,
      at: 1,
      message: { channel: 'email', to: BOB, subject: 'Hello Bob' } as never,
    });
    await stores.limits.replace(
      { workspace: 'shop', person: 'u-bob', revision: 'r1', keptUntil: 9, sent: [] } as never,
      null,
    );
    await stores.jobs.insert(
      {
        id: 'job_1',
        workspace: 'shop',
        version: 1,
        work: { action: 'x' },
        state: 'done',
        createdAt: 1,
        endedAt: 2,
      } as never,
      [BOB, 'other'],
    );

    const found = await erase();
    expect(found.toSorted()).toEqual(['deliveries', 'inbox', 'job_items', 'limits', 'opt_outs', 'suppressions']);
    const [erased] = await mongo.ledger.many([bobs.id]);
    expect(erased).toMatchObject({ state: 'SENT', intent: { to: null, person: 'erased', variables: {} } });
    expect(await mongo.ledger.many([adas.id])).toEqual([adas]);
    expect(await mongo.ledger.list({ uniqueId: bobs.slot.uniqueId }, 10)).toMatchObject({ items: [] });
    expect(await mongo.suppressions.find('shop', 'email', matcher.nameInstead(BOB))).toMatchObject({ detail: '' });
    expect(await mongo.suppressions.find('shop', 'email', BOB)).toBeNull();
    expect(await stores.consents.find('shop', ['u-bob'])).toEqual([]);
    expect(await consents.find('shop', ['u-bob'])).toMatchObject([{ words: [{ target: 'all', optedOut: true }] }]);
    expect((await stores.inbox.list({}, 10)).items).toEqual([]);
    expect(await stores.limits.find('shop', 'u-bob')).toBeNull();
    expect(await stores.jobs.items('job_1' as never)).toEqual([matcher.nameInstead(BOB), 'other']);
    expect(await erase()).toEqual([]);
  });

  it('refuses the rule state that a worker loaded before the erasure, and accepts the state loaded afterwards', async () => {
    const memory = { ...emptyMemory({ workspace: 'shop', stream: 'shop/users', key: 'u-bob' }), appliedOffset: 4 };
    const state: RuleState = {
      id: 'sta_1',
      logId: 'log_00000000000000000000000001' as LogId,
      partition: 0,
      offset: 4,
      nextDue: 9,
      forgetAt: null,
      waits: [{ rule: 'shop rul_1 0', due: 9 }],
      data: formatMemory(memory),
    };
    await mongo.ruleStates.save([state]);
    expect(await erase()).toEqual(['rule_states']);
    const [left] = await mongo.ruleStates.load(['sta_1']);
    expect(left).toMatchObject({ offset: 4, data: '', waits: [], nextDue: null });
    expect(await mongo.ruleStates.save([{ ...state, offset: 5 }])).toEqual(['refused']);
    expect(await mongo.ruleStates.load(['sta_1'])).toEqual([left]);
    expect(await mongo.ruleStates.save([{ ...state, ...left, offset: 5, data: '' }])).toEqual(['done']);
    expect(await mongo.ruleStates.load(['sta_1'])).toMatchObject([{ offset: 5 }]);
  });

  it('waits with a delivery that is being sent, unless no process sends any more', async () => {
    const sending = deliveryOf({ intent: { to: BOB }, state: 'SENDING', leaseUntil: 9 });
    await mongo.ledger.insert([sending]);
    for await (const [entry] of mongo.eraser.entries(WORK, MOMENT)) expect(entry?.undecided).toBe(sending.id);
    for await (const entries of mongo.eraser.entries({ ...WORK, takesUndecided: true }, MOMENT)) {
      for (const entry of entries) await entry.erase();
    }
    expect(await mongo.ledger.many([sending.id])).toMatchObject([
      { state: 'CANCELLED', intent: { to: null, person: 'erased' } },
    ]);
  });
});
