import { untilFound } from '@carillon/testing';
import { addressOf } from '../partner.ts';
import { changePost, eventPost, type Acknowledged, type AcknowledgedChange } from '../posts.ts';
import { shopFiles, WORKSPACE, type Neighbours, type ShopKeys } from '../shop.ts';
import type { Situation } from './cases.ts';
import { deliveriesOf, isOpen, type Lives } from './lives.ts';

/** What clients and platform were promised over all cases. */
export type Promises = {
  readonly acknowledged: Acknowledged[];
  readonly changes: AcknowledgedChange[];
  /** Events that came after a change of the configuration was answered, and its number. */
  readonly judgedFrom: { readonly eventId: string; readonly number: number }[];
};

export type Floor = {
  readonly lives: Lives;
  readonly keys: ShopKeys;
  readonly neighbours: Neighbours;
  readonly promises: Promises;
};

/** One case under way. */
export type Scene = {
  /** Brings the product to the place; repeats what it says until it is taken, over all lives. */
  act(): Promise<void>;
  /** Whether nothing of it is open any more. */
  isOver(): Promise<boolean>;
  /** How the event is named in the promises. */
  readonly subject: string;
};

/** Prepares what has to be there before the failpoint is armed. Names are made of the number, which is new each time. */
export async function prepare(situation: Situation, number: number, floor: Floor): Promise<Scene> {
  switch (situation) {
    case 'watched':
    case 'unaddressed':
      return watched(situation === 'watched' ? `user-${number}` : `mute-${number}`, number, floor);
    case 'member':
      return member(`member-${number}`, floor);
    case 'cancelled':
      return cancelled(number, floor);
    case 'published':
      return published(number, floor);
    case 'order':
    case 'brief':
      return order(number, situation === 'order' ? 'customer' : 'never', floor, situation === 'brief');
    case 'never':
    case 'refused':
    case 'unanswered':
      return order(number, situation, floor);
  }
}

const settled = async (lives: Lives, filter: Readonly<Record<string, string>>): Promise<boolean> => {
  const found = await deliveriesOf(lives, filter);
  return found.length > 0 && !found.some(isOpen);
};

/** The first word of the address says what the mail server does with it. */
function order(number: number, mood: string, { lives, keys, promises }: Floor, brief = false): Scene {
  const subject = `order-${number}`;
  const address = `${mood}-${number}@example.org`;
  const body = { order_id: subject, status: brief ? 'brief' : 'paid', email: address };
  const post = eventPost(keys, `key-${number}`, body, (eventId) => {
    // What is of no use before it can be sent has nowhere to go.
    const mayFail = mood === 'never' || mood === 'refused';
    promises.acknowledged.push({ eventId, subject, to: brief ? null : address, fires: true, asks: false, mayFail });
  });
  return {
    subject,
    act: async () => post.taken(await lives.say(post)),
    isOver: () => settled(lives, { to: address }),
  };
}

function watched(subject: string, number: number, { lives, keys, promises }: Floor): Scene {
  const body = { order_id: `order-${number}`, status: 'watched', watcher: subject };
  const to = subject.startsWith('mute') ? null : addressOf(subject);
  let id = '';
  const post = eventPost(keys, `key-${number}`, body, (eventId) => {
    id = eventId;
    promises.acknowledged.push({ eventId, subject, to, fires: true, asks: true });
  });
  return {
    subject,
    act: async () => post.taken(await lives.say(post)),
    isOver: () => settled(lives, { event: id }),
  };
}

function member(user: string, { lives, keys, promises }: Floor): Scene {
  const post = changePost(keys, 'entered', user, () => promises.changes.push({ kind: 'entered', user }));
  return {
    subject: `entered/${user}`,
    act: async () => post.taken(await lives.say(post)),
    isOver: () => settled(lives, { to: addressOf(user) }),
  };
}

/** What waits is cancelled; where it is being tried just now, a moment later. */
async function cancelled(number: number, floor: Floor): Promise<Scene> {
  const { lives } = floor;
  const scene = order(number, 'never', floor);
  await scene.act();
  const to = { to: `never-${number}@example.org` };
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
