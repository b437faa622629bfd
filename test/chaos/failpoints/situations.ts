import type { ChannelName } from '@carillon/domain/channels';
import { untilFound } from '@carillon/testing';
import { addressOf } from '../partner.ts';
import { changePost, eventPost } from '../posts.ts';
import { WORKSPACE } from '../../harness/shop.ts';
import { shopFiles } from '../shop.ts';
import { situationOf, type FailpointCase } from './cases.ts';
import { deliveriesOf } from './lives.ts';
import { addressOn, bounced, lookingAt, order, TOLD_WITHIN, type Floor, type Scene } from './orders.ts';
import { complained, reported, returned, stopped, twiceBarred, unsubscribed } from './situations-afterwards.ts';

/** Prepares what has to be there before the failpoint is armed. Names are made of the number, which is new each time. */
export async function prepare(one: FailpointCase, number: number, floor: Floor): Promise<Scene> {
  const situation = situationOf(one);
  const { channel = 'email' } = one;
  switch (situation) {
    case 'watched':
    case 'unaddressed':
      return watched(situation === 'watched' ? `user-${number}` : `mute-${number}`, number, floor);
    case 'member':
      return member(`member-${number}`, floor);
    case 'cancelled':
      return cancelled(number, floor, channel);
    case 'published':
      return published(number, floor);
    case 'parked':
      return parked(number, floor);
    case 'bounced':
      return bounced(number, floor, channel);
    case 'forgiven':
      return forgiven(number, floor, channel);
    case 'sealed':
    case 'unsealed':
      return sealed(number, floor, situation === 'unsealed');
    case 'keyed':
      return keyed(number, floor);
    case 'followed':
      return followed(number, floor);
    case 'order':
    case 'brief':
      return order(number, situation === 'order' ? 'customer' : 'never', floor, {
        brief: situation === 'brief',
        channel,
      });
    case 'never':
    case 'refused':
    case 'unanswered':
    case 'slow':
    case 'astray':
      return order(number, situation, floor, { channel });
    case 'reported':
      return reported(number, floor);
    case 'returned':
      return returned(number, floor);
    case 'complained':
      return complained(number, floor);
    case 'unsubscribed':
      return unsubscribed(number, floor);
    case 'stopped':
      return stopped(number, floor);
    case 'twice-barred':
      return twiceBarred(number, floor);
  }
}

/** Longer than the lease of a call to a partner, and than it takes to be refused twice. */
const REFUSED_WITHIN = 120_000;

function followed(number: number, floor: Floor): Scene {
  const { lives, keys, promises } = floor;
  const first = order(number, 'customer', floor);
  const { subject } = first;
  const post = eventPost(keys, `key-${number}-again`, { order_id: subject, status: 'noted' }, (eventId) =>
    promises.acknowledged.push({ eventId, subject, to: null, fires: false, asks: false }),
  );
  return {
    ...first,
    async act() {
      await first.act();
      await untilFound('the first is told', async () => (await first.isOver()) || undefined, TOLD_WITHIN);
      post.taken(await lives.say(post));
    },
  };
}

function watched(subject: string, number: number, { lives, keys, promises }: Floor, parks = false): Scene {
  const body = { order_id: `order-${number}`, status: 'watched', watcher: subject };
  const to = subject.startsWith('mute') ? null : addressOf(subject);
  let id = '';
  const post = eventPost(keys, `key-${number}`, body, (eventId) => {
    id = eventId;
    promises.acknowledged.push({ eventId, subject, to, fires: true, asks: true, parks });
  });
  return {
    subject,
    act: async () => post.taken(await lives.say(post)),
    ...lookingAt(lives, () => ({ event: id })),
  };
}

type ShownLetter = { readonly id: string };
type Refusal = { readonly status?: unknown; readonly detail?: string };

/** Who is asked refuses, and that becomes a dead letter; then it would answer, and somebody has it asked again. */
async function parked(number: number, floor: Floor): Promise<Scene> {
  const { lives, partner } = floor;
  const subject = `barred-${number}`;
  const scene = watched(subject, number, floor, true);
  const path = `/v1/workspaces/${WORKSPACE}/dead-letters?limit=500`;
  const letters = async () => (await lives.manage<{ items: readonly ShownLetter[] }>('GET', path)).items;
  const known = new Set((await letters()).map(({ id }) => id));
  return {
    ...scene,
    async act() {
      await scene.act();
      const found = async () => (await letters()).find(({ id }) => !known.has(id));
      const letter = await untilFound('its dead letter', found, REFUSED_WITHIN);
      partner.admit(subject);
      const redrive = `/v1/dead-letters/${letter.id}/redrive`;
      // 409: it is not given up yet, for as long as a lease, or was asked again already, and nobody heard of it.
      const taken = async () => {
        const answer = await lives.manage<Refusal>('POST', redrive, undefined, [200, 409]);
        return answer.detail?.includes('at this moment') ? undefined : answer;
      };
      await untilFound('that it is asked again', taken, REFUSED_WITHIN);
    },
  };
}

/** Taken off the list, the address is tried again. */
async function forgiven(number: number, floor: Floor, channel: ChannelName): Promise<Scene> {
  const { lives } = floor;
  const before = bounced(number, floor, channel);
  await before.act();
  await untilFound('an address that is suppressed', async () => (await before.isOver()) || undefined);
  const again = bounced(number, floor, channel, '-again');
  const body = { channel, address: addressOn(channel, 'gone', number) };
  return {
    ...again,
    async act() {
      // 404: nobody heard that it was done.
      await lives.manage('POST', `/v1/workspaces/${WORKSPACE}/suppressions/remove`, body, [200, 404]);
      await again.act();
    },
  };
}

type ShownSecret = { readonly workspace: string; readonly name: string };

/** What was answered is so. */
async function sealed(number: number, floor: Floor, thenRemoved: boolean): Promise<Scene> {
  const { lives } = floor;
  const named = { name: `NOTE_${number}` };
  const path = `/v1/workspaces/${WORKSPACE}/secrets`;
  const put = (): Promise<unknown> => lives.manage('PUT', `${path}/${named.name}`, { value: 'a note' });
  if (thenRemoved) await put();
  const after = order(number, 'customer', floor);
  return {
    ...after,
    async act() {
      await (thenRemoved ? lives.manage('DELETE', `${path}/${named.name}`, undefined, [200, 404]) : put());
      const { items } = await lives.manage<{ items: readonly ShownSecret[] }>('GET', path);
      if (items.some(({ name }) => name === named.name) === thenRemoved) {
        throw new Error(`secret ${named.name} is ${thenRemoved ? 'still' : 'not'} there`);
      }
      await after.act();
    },
  };
}

/** Uses are told of every 5 s. */
const TOLD_OF_USE_WITHIN = 8_000;

type ShownKey = { readonly name: string; readonly last_used_at: string | null };

/** That it was used is shown, at the latest when it is used again. */
async function keyed(number: number, floor: Floor): Promise<Scene> {
  const { lives, neighbours } = floor;
  const name = `till-${number}`;
  const path = `/v1/workspaces/${WORKSPACE}/api-keys`;
  const { key } = await lives.manage<{ key: string }>('POST', path, { name }, [201]);
  const files = {
    ...shopFiles(neighbours),
    'workspaces/shop/streams/orders.yaml': `security: { api_keys: [backend, ${name}] }\n`,
  };
  await lives.manage('POST', '/v1/configuration/apply', { files, prune: false });
  const scene = order(number, 'customer', floor, { key });
  let usedAt = 0;
  const use = (): Promise<void> => {
    usedAt = Date.now();
    return scene.act();
  };
  return {
    ...scene,
    act: use,
    async isOver() {
      if (!(await scene.isOver())) return false;
      const { items } = await lives.manage<{ items: readonly ShownKey[] }>('GET', path);
      if (items.some((one) => one.name === name && one.last_used_at !== null)) return true;
      if (Date.now() - usedAt > TOLD_OF_USE_WITHIN) await use();
      return false;
    },
  };
}

function member(user: string, { lives, keys, promises }: Floor): Scene {
  const post = changePost(keys, 'entered', user, () => promises.changes.push({ kind: 'entered', user }));
  return {
    subject: `entered/${user}`,
    act: async () => post.taken(await lives.say(post)),
    ...lookingAt(lives, () => ({ recipient: addressOf(user) })),
  };
}

/** What waits is cancelled; where it is being tried just now, a moment later. */
async function cancelled(number: number, floor: Floor, channel: ChannelName): Promise<Scene> {
  const { lives } = floor;
  const scene = order(number, 'never', floor, { channel });
  await scene.act();
  const to = { recipient: addressOn(channel, 'never', number) };
  const waits = async () => (await deliveriesOf(lives, to)).find(({ state }) => state === 'WAITING')?.id;
  const id = await untilFound('a delivery that waits', waits);
  const cancel = `/v1/workspaces/${WORKSPACE}/deliveries/${id}/cancel`;
  return {
    ...scene,
    async act() {
      do await lives.manage('POST', cancel, undefined, [200, 409]);
      while (!(await scene.isOver()));
    },
  };
}

/** An order that comes after the change was answered is to be judged by it. */
function published(number: number, floor: Floor): Scene {
  const { lives, neighbours, promises } = floor;
  const after = order(number, 'customer', floor);
  const files = {
    ...shopFiles(neighbours),
    'workspaces/shop/templates/order-paid/email.txt': `Order {{ order_id }} is paid (edition ${number}).\n`,
  };
  return {
    ...after,
    async act() {
      const body = { files, prune: false };
      // 409: the same change, of which nobody heard that it was taken, is being made just now.
      let applied: { readonly number?: number; readonly new_number?: number | null };
      do applied = await lives.manage('POST', '/v1/configuration/apply', body, [200, 409]);
      while (applied.number === undefined);
      await after.act();
      const eventId = promises.acknowledged.at(-1)?.eventId ?? '';
      promises.judgedFrom.push({ eventId, number: applied.new_number ?? applied.number });
    },
  };
}
