import { afterEach, describe, expect, it } from 'vitest';
import { openDelivery, providerResult, sandboxOf, type Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId, TriggerId } from '@carillon/kernel';
import type { ChannelSender } from '@carillon/ports';
import { givenIntent, HOUR, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { sweep, type AttemptPorts } from '../../src/index.ts';
import { attemptAndPublish } from './support/attempt-and-publish.ts';
import { cutPorts, Killed, type CutFate } from './support/cut-ports.ts';

const FATES = ['killed before', 'killed after', 'held'] as const satisfies readonly CutFate[];
const ADA = 'ada@example.com';
/** Longer than the age at which a place that nobody uses is fenced, and than the lease of a call. */
const LONG = 31_000;

let topology: Topology;
let accepted: string[] = [];
afterEach(() => topology.close());

/** One message may be sent, and two wait: the one of the process that is cut off, and another. */
async function openShop(): Promise<void> {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  accepted = [];
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  const body = { ...ORDER_PAID, cadence: { limits: [{ max: 1, per: '1d', then: 'drop' as const }] } };
  await topology.publish(...orderShop({ ...body, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }));
  const now = topology.clock.now();
  const moment = { now, derive: topology.ids.derive };
  const deliveries = ['own', 'other'].map((name) => {
    const facts = { uniqueId: name, triggerId: `trg_${name}` as TriggerId, person: ADA };
    const intent = givenIntent(name, { ...facts, causedAt: now, sendAt: now, notAfter: now + 48 * HOUR });
    return openDelivery(intent, 'p', `dlv_${name}` as DeliveryId, moment);
  });
  await topology.data.ledger.insert(deliveries);
}

const senderOf = (verdict: 'accepted' | 'refused_content'): ChannelSender => ({
  async send(_message, { deliveryId }) {
    if (verdict === 'accepted') accepted.push(deliveryId);
    return providerResult(verdict, '', 'said so');
  },
  check: async () => [],
  close: async () => undefined,
});
const portsOf = () => ({
  ...topology.ports,
  // Whoever waits for a lease to be renewed waits longer than a call takes.
  pause: (span: number) => (span > 5000 ? new Promise<void>(() => undefined) : Promise.resolve()),
  stopping: new AbortController().signal,
  collect: async () => [],
});

const read = async (name: string): Promise<Delivery> => {
  const found = await topology.data.ledger.get(`dlv_${name}` as DeliveryId);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
async function attempt(name: string, sender: ChannelSender, ports: AttemptPorts = portsOf()): Promise<void> {
  const hold = { choice: sandboxOf('email'), sender, release: () => undefined };
  await attemptAndPublish(await read(name), hold, { retryAt: null, anotherAccount: false }, ports);
}

/** What every other process does: doubts are called so, and what waits is tried, `other` first. */
async function finish(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    topology.clock.pass(LONG);
    await sweep(topology.ports, topology.clock.now());
    for (const name of ['other', 'own']) {
      if ((await read(name)).state === 'WAITING') await attempt(name, senderOf('accepted'));
    }
  }
}

type Case = { readonly at: number; readonly fate: CutFate } | null;
/** Runs the process that is cut off there, then all others; answers its steps. */
async function run(one: Case, says: 'accepted' | 'refused_content', begin = 'own'): Promise<readonly string[]> {
  const process = cutPorts(portsOf(), one && { ...one, meanwhile: finish });
  const sender = senderOf(says);
  await attempt(begin, sender, { ...process.ports, stopping: process.dead }).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  await finish();
  return process.steps;
}

/** How both ended, and how many messages were accepted. */
const ends = async (): Promise<string> =>
  `own ${(await read('own')).state}, other ${(await read('other')).state}, ${accepted.length} accepted`;

/** All cases of a process that writes these steps: how each ended. */
async function endsOf(
  says: 'accepted' | 'refused_content',
  prepare: () => Promise<void> = async () => undefined,
  begin = 'own',
): Promise<Readonly<Record<string, string>>> {
  await openShop();
  await prepare();
  const steps = await run(null, says, begin);
  const found: Record<string, string> = { calm: await ends() };
  for (const [index, name] of steps.entries()) {
    for (const fate of FATES) {
      await topology.close();
      await openShop();
      await prepare();
      await run({ at: index, fate }, says, begin);
      found[`${fate} ${index} ${name}`] = await ends();
    }
  }
  return found;
}

const OTHER_TOLD = 'own SUPPRESSED, other SENT, 1 accepted';
const OWN_TOLD = 'own SENT, other SUPPRESSED, 1 accepted';

describe('a process that sends under a limit of one message per person', () => {
  it('never sends two messages if it is interrupted at any write, and no unsent message uses up the limit', async () => {
    expect(await endsOf('accepted')).toEqual({
      calm: OWN_TOLD,
      'killed before 0 take': OTHER_TOLD,
      'killed after 0 take': OTHER_TOLD,
      'held 0 take': OTHER_TOLD,
      'killed before 1 step into sending': OTHER_TOLD,
      'killed after 1 step into sending': 'own IN_DOUBT, other SUPPRESSED, 0 accepted',
      'held 1 step into sending': OTHER_TOLD,
      'killed before 2 settle': 'own IN_DOUBT, other SUPPRESSED, 1 accepted',
      'killed after 2 settle': OWN_TOLD,
      'held 2 settle': OWN_TOLD,
      'killed before 3 tell': OWN_TOLD,
      'killed after 3 tell': OWN_TOLD,
      'held 3 tell': OWN_TOLD,
      'killed before 4 know it told': OWN_TOLD,
      'killed after 4 know it told': OWN_TOLD,
      'held 4 know it told': OWN_TOLD,
    });
  }, 120_000);

  it('leaves the one message of the limit to another delivery if it is interrupted after the provider refused', async () => {
    const refused = 'own FAILED, other SENT, 1 accepted';
    // Nobody else knows of the refusal: a doubt fills the limit.
    const doubt = 'own IN_DOUBT, other SUPPRESSED, 0 accepted';
    const found = await endsOf('refused_content');
    // The outcome is published while the place is given back, in any order.
    const byStep = Object.fromEntries(Object.entries(found).map(([step, end]) => [step.replace(/ \d /, ' '), end]));
    expect(byStep).toMatchObject({
      calm: refused,
      'killed before settle': doubt,
      'killed after settle': refused,
      'held settle': 'own FAILED, other SUPPRESSED, 0 accepted',
      'killed before give back': refused,
      'killed after give back': refused,
      'held give back': refused,
      'killed before tell': refused,
      'killed after tell': refused,
      'held tell': refused,
    });
  }, 120_000);

  it('sends one message, without a new delivery in doubt, if it is interrupted while it fences off a dead worker', async () => {
    /** The holder of `own` died between its place and its step. */
    const orphan = async (): Promise<void> => {
      const died = cutPorts(portsOf(), { at: 1, fate: 'killed before', meanwhile: finish });
      await attempt('own', senderOf('accepted'), { ...died.ports, stopping: died.dead }).catch(() => undefined);
      topology.clock.pass(LONG);
    };
    const found = await endsOf('accepted', orphan, 'other');
    expect(
      Object.keys(found)
        .slice(1, 5)
        .map((name) => name.replace(/^[a-z ]+ \d /, '')),
    ).toContain('fence');
    const { 'killed after 3 step into sending': inDoubt, 'killed before 4 settle': sentInDoubt, ...rest } = found;
    expect([inDoubt, sentInDoubt]).toEqual([
      'own SUPPRESSED, other IN_DOUBT, 0 accepted',
      'own SUPPRESSED, other IN_DOUBT, 1 accepted',
    ]);
    expect(new Set(Object.values(rest)), JSON.stringify(rest, null, 1)).toEqual(new Set([OTHER_TOLD]));
  }, 120_000);
});
