import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { untilFound, type LedgerSmtp } from '@carillon/testing';
import { startOutsideServers } from '../outside-servers.ts';
import { eventPost } from '../posts.ts';
import { openShop, type ShopKeys } from '../shop.ts';
import { armFailpoint, failpointEnvironment, whoFailed } from './arming.ts';
import { deliveriesOf, type Shown } from './lives.ts';
import type { OpenPatient, Patient } from './patient.ts';
import { CADENCE_PLACES, type CadencePlace } from './places.ts';

/* A product that fails while it counts what somebody got, or makes one digest of two messages. */

export type CadenceCase = { readonly place: CadencePlace; readonly at: string; readonly action: 'kill' | 'stop' };

export const everyCadenceCase = (action: CadenceCase['action']): readonly CadenceCase[] =>
  CADENCE_PLACES.flatMap((place) =>
    ['before', 'after'].map((side): CadenceCase => ({ place, at: `${place}.${side}`, action })),
  );

export const cadenceCaseName = ({ at, action }: CadenceCase): string => `${at}: ${action}`;

/** Longer than a consumer's session, so that somebody else comes to what was begun; shorter than the lease of a call. */
const HELD = 20_000;
const OVER_WITHIN = 180_000;

const notification = (status: string, cadence: string): string => `channels:
  email: { template: ${status} }
rules:
  ${status}:
    stream: orders
    when: event.status == "${status}"
    recipients:
      from: event
      to: { email: event.email }
      person: event.person
      unique_id: event.order_id
retry: { attempts: 8, first: 1s, max: 2s }
cadence:
  ${cadence}
`;
const FILES = {
  'workspaces/shop/notifications/limited.yaml': notification('limited', 'limits: [{ max: 1, per: 1d, then: drop }]'),
  'workspaces/shop/templates/limited/email.yaml': 'subject: "{{ order_id }}"\n',
  'workspaces/shop/templates/limited/email.txt': 'Order {{ order_id }}.\n',
  'workspaces/shop/notifications/digested.yaml': notification(
    'digested',
    'digest: { window: { fixed: 1h }, max_items: 2 }',
  ),
  'workspaces/shop/templates/digested/email.yaml': 'subject: "{{ count }}: {{#each items}}{{ order_id }} {{/each}}"\n',
  'workspaces/shop/templates/digested/email.txt': '{{#each items}}{{ order_id }} {{/each}}\n',
};

type Fixture = { readonly patient: Patient; readonly keys: ShopKeys; readonly smtp: LedgerSmtp };
type Order = { readonly id: string; readonly status: string; readonly email: string; readonly person: string };

async function say({ patient, keys }: Fixture, { id, ...order }: Order): Promise<void> {
  const post = eventPost(keys, `key-${id}`, { order_id: id, ...order }, () => undefined);
  await patient.lives.say(post);
}

const isEnded = ({ state }: Shown): boolean => !['WAITING', 'SENDING', 'COLLECTED'].includes(state);

/** Waits until an address has so many deliveries and all have ended; answers their states. */
function ended({ patient }: Fixture, recipient: string, count: number): Promise<readonly string[]> {
  const look = async (): Promise<readonly string[] | undefined> => {
    const found = await deliveriesOf(patient.lives, { recipient });
    return found.length >= count && found.every(isEnded) ? found.map(({ state }) => state).toSorted() : undefined;
  };
  return untilFound(`${count} deliveries to ${recipient} that have ended`, look, OVER_WITHIN);
}

const mailsTo = async ({ smtp }: Fixture, address: string): Promise<readonly string[]> =>
  (await smtp.entries()).filter(({ to }) => to.includes(address)).map(({ subject }) => subject);

type Scene = {
  /** What leads to the place. */
  act(): Promise<void>;
  /** What became of it in the end, as one text. */
  ends(): Promise<string>;
};

/** Two orders of one person, who may get one message; the first is refused for good where a place is to be given back. */
function limited(fixture: Fixture, number: number, isRefused: boolean): Scene {
  const person = `person-${number}`;
  const order = (name: string, fate: string): Order => ({
    id: `${name}-${number}`,
    status: 'limited',
    email: `${fate}-${name}-${number}@example.org`,
    person,
  });
  const [first, second] = [order('first', isRefused ? 'refused' : 'customer'), order('second', 'customer')];
  return {
    act: () => say(fixture, first),
    async ends() {
      const [own] = await ended(fixture, first.email, 1);
      await say(fixture, second);
      const [other] = await ended(fixture, second.email, 1);
      const mails = [...(await mailsTo(fixture, first.email)), ...(await mailsTo(fixture, second.email))];
      return `${own}, then ${other}, ${mails.length} sent`;
    },
  };
}

/** Two orders to one address, of which one digest is made. */
function digested(fixture: Fixture, number: number): Scene {
  const email = `customer-${number}@example.org`;
  const order = (name: string): Order => ({ id: `${name}-${number}`, status: 'digested', email, person: email });
  return {
    async act() {
      await say(fixture, order('a'));
      await say(fixture, order('b'));
    },
    async ends() {
      const states = await ended(fixture, email, 3);
      const told = (await mailsTo(fixture, email)).map((subject) => subject.replace(/[ab]-\d+/g, 'item').trim());
      return `${states.join(' ')}; ${told.join(' and ') || 'nothing sent'}`;
    },
  };
}

const sceneOf = (fixture: Fixture, { place: where }: CadenceCase, number: number): Scene =>
  where.startsWith('limit') ? limited(fixture, number, where === 'limit.give-back') : digested(fixture, number);

/** Drives one product through all cases; answers how each ended, or that the place was never reached. */
export async function runCadenceFailpoints(
  open: OpenPatient,
  cases: readonly CadenceCase[],
): Promise<ReadonlyMap<string, string>> {
  const servers = await startOutsideServers({ seed: 1, smtp: { latency: 5 } });
  const { folder, smtp, neighbours } = servers;
  let patient: Patient | undefined;
  try {
    patient = await open({ folder, env: failpointEnvironment(servers) });
    await patient.ready();
    const keys = await openShop(folder, join(folder, 'data'), neighbours, FILES);
    const fixture: Fixture = { patient, keys, smtp };
    const ends = new Map<string, string>();
    for (const [number, one] of cases.entries()) {
      ends.set(cadenceCaseName(one), await runOne(one, number, folder, fixture));
    }
    return ends;
  } finally {
    await patient?.close();
    await servers.stop();
  }
}

async function runOne(one: CadenceCase, number: number, folder: string, fixture: Fixture): Promise<string> {
  const { patient } = fixture;
  const said = patient.logs();
  const scene = sceneOf(fixture, one, number);
  await armFailpoint(folder, `${one.at}:1:${one.action}`);
  const acting = scene.act();
  const reached = (await whoFailed(patient, one, said)) !== null;
  await armFailpoint(folder, '');
  if (reached) {
    if (one.action === 'stop') await pause(HELD);
    await patient.revive(one.action);
  }
  await patient.ready();
  await acting;
  return reached ? scene.ends() : 'never reached';
}
