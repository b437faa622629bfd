import { afterEach, describe, expect, it } from 'vitest';
import { openDelivery, type Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import { at, givenIntent, HOUR, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { closeWindows, collectForDigest, headIdOf, listUnlisted, type DigestPorts } from '../../src/index.ts';
import { cutPorts, Killed, type Cut, type CutFate } from './support/cut-ports.ts';

/** From the first item to the digest in the ledger, as the design page numbers them. */
const STEPS = ['collect', 'list', 'close', 'move an item', 'insert the digest', 'empty the closing'];
const NAMES = ['a', 'b'];

let topology: Topology;
afterEach(() => topology.close());

async function openShop(): Promise<void> {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  const body = { ...ORDER_PAID, cadence: { digest: { window: { fixed: '2h' } } } } as const;
  await topology.publish(...orderShop({ ...body, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }));
  const moment = at(topology.clock.now());
  const items = NAMES.map((name) => {
    const facts = { uniqueId: name, causedAt: moment.now, variables: { order_id: name } };
    return openDelivery(givenIntent(name, facts), 'carillon.intents/0@0', `dlv_${name}` as DeliveryId, moment);
  });
  await topology.data.ledger.insert(items);
}

const portsOf = (): DigestPorts & Topology['ports'] => ({ ...topology.ports, digestMade: () => undefined });
const all = async (): Promise<readonly Delivery[]> => (await topology.data.ledger.list({}, 100)).items;
const openItems = async (): Promise<readonly Delivery[]> =>
  (await all()).filter(({ state, intent }) => !intent.digest && (state === 'WAITING' || state === 'COLLECTED'));
const headOf = async ({ digestHeads }: DigestPorts) => {
  const [first] = await all();
  return first ? digestHeads.get(headIdOf(first, topology.ids)) : null;
};

/** One process takes in what is there, and closes the window when it is due. */
async function work(ports: DigestPorts): Promise<void> {
  const waiting = (await all()).filter(({ state }) => state === 'WAITING');
  await collectForDigest(
    waiting.filter(({ intent }) => !intent.digest),
    '',
    ports,
  );
  topology.clock.pass(2 * HOUR);
  const head = await headOf(ports);
  if (head) await closeWindows(head, false, ports);
}

/** What every other process does: take in what waits, list what nobody listed, close what is due. */
async function finish(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await collectForDigest(
      (await openItems()).filter(({ state }) => state === 'WAITING'),
      '',
      portsOf(),
    );
    topology.clock.pass(31_000);
    await listUnlisted(portsOf(), (_where, error) => expect.unreachable(String(error)));
    topology.clock.pass(2 * HOUR);
    const head = await headOf(portsOf());
    if (head) await closeWindows(head, false, portsOf());
  }
}

/** Runs one process that is cut off there, then all others; answers its steps. */
async function run(cut: Pick<Cut, 'at' | 'fate'> | null): Promise<readonly string[]> {
  await openShop();
  let told: string | null = null;
  const outcome = async () => JSON.stringify((await all()).map(({ id, state, digestedIn }) => [id, state, digestedIn]));
  const meanwhile = async (): Promise<void> => {
    await finish();
    told = await outcome();
  };
  const process = cutPorts(portsOf(), cut && { ...cut, meanwhile });
  await work(process.ports).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  // Whoever wakes changes nothing of what others made.
  if (told !== null) expect(await outcome()).toBe(told);
  await finish();
  return process.steps;
}

/** One digest tells of both items, and each says that it is in it; nothing is under way any more. */
async function mustHold(where: string): Promise<void> {
  const [deliveries, head] = [await all(), await headOf(portsOf())];
  const digests = deliveries.filter(({ intent }) => intent.digest);
  expect(digests, where).toHaveLength(1);
  const [digest] = digests;
  const told = (digest?.intent.digest?.items ?? []).map(({ deliveryId }) => deliveryId);
  expect(told.toSorted(), where).toEqual(['dlv_a', 'dlv_b']);
  for (const item of deliveries.filter(({ intent }) => !intent.digest)) {
    expect(item, where).toMatchObject({ state: 'DIGESTED', digestedIn: digest?.id });
  }
  expect(head, where).toMatchObject({ closing: null, items: [] });
}

describe('a process that adds messages to a digest and closes the digest window', () => {
  it('makes each documented write if it is not interrupted', async () => {
    const steps = await run(null);
    expect([...new Set(steps)].filter((name) => STEPS.includes(name))).toEqual(STEPS);
    await mustHold('nothing happened');
  });

  it.each(['killed before', 'killed after', 'held'] as const satisfies readonly CutFate[])(
    'puts each message in one digest if it is %s any of its writes',
    async (fate) => {
      const steps = await run(null);
      for (const [index, name] of steps.entries()) {
        await topology.close();
        const done = await run({ at: index, fate });
        expect(done.length, `${name} was reached`).toBeGreaterThan(index);
        await mustHold(`${fate} write ${index}: ${name}`);
      }
    },
    120_000,
  );
});
