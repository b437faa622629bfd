import { untilFound } from '@carillon/testing';
import { addressOf, type BookedPartner } from '../partner.ts';
import { changePost, eventPost, type Acknowledged, type AcknowledgedChange } from '../posts.ts';
import { shopFiles, WORKSPACE, type Neighbours, type ShopKeys } from '../shop.ts';
import type { Situation } from './cases.ts';
import { deliveriesOf, isOpen, type Lives, type Shown } from './lives.ts';

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
  readonly partner: Pick<BookedPartner, 'admit'>;
  readonly promises: Promises;
};

/** One case under way. */
export type Scene = {
  /** Brings the product to the place; repeats what it says until it is taken, over all lives. */
  act(): Promise<void>;
  /** Whether nothing of it is open any more. */
  isOver(): Promise<boolean>;
  /** What became of it so far. */
  deliveries(): Promise<readonly Shown[]>;
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
    case 'parked':
      return parked(number, floor);
    case 'bounced':
      return bounced(number, floor);
    case 'forgiven':
      return forgiven(number, floor);
    case 'sealed':
    case 'unsealed':
      return sealed(number, floor, situation === 'unsealed');
    case 'keyed':
      return keyed(number, floor);
    case 'followed':
      return followed(number, floor);
    case 'order':
    case 'brief':
      return order(number, situation === 'order' ? 'customer' : 'never', floor, { brief: situation === 'brief' });
    case 'never':
    case 'refused':
    case 'unanswered':
    case 'slow':
      return order(number, situation, floor);
  }
}

const TOLD_WITHIN = 60_000;
/** Longer than the lease of a call to a partner, and than it takes to be refused twice. */
const REFUSED_WITHIN = 120_000;

type Filter = Readonly<Record<string, string>>;

/** The deliveries that a scene looks at: those of an event, or to an address. */
const lookingAt = (lives: Lives, filter: () => Filter): Pick<Scene, 'isOver' | 'deliveries'> => ({
  deliveries: () => deliveriesOf(lives, filter()),
  async isOver() {
    const found = await deliveriesOf(lives, filter());
    return found.length > 0 && !found.some(isOpen);
  },
});

type OrderOptions = {
  /** It is soon of no use. */
  readonly brief?: boolean;
  /** Tells it from another order of the same number. */
  readonly suffix?: string;
  /** Another key than the usual one. */
  readonly key?: string;
};

/** What is of no use before it can be sent, or cannot be sent, has nowhere to go. */
const UNSENT: readonly string[] = ['never', 'refused', 'gone'];

/** The first word of the address says what the mail server does with it. */
function order(number: number, mood: string, { lives, keys, promises }: Floor, options: OrderOptions = {}): Scene {
  const { brief = false, suffix = '', key = keys.stream } = options;
  const subject = `order-${number}${suffix}`;
  const address = `${mood}-${number}@example.org`;
  const body = { order_id: subject, status: brief ? 'brief' : 'paid', email: address };
  let id = '';
  const post = eventPost({ ...keys, stream: key }, `key-${number}${suffix}`, body, (eventId) => {
    id = eventId;
    const mayFail = UNSENT.includes(mood);
    promises.acknowledged.push({ eventId, subject, to: brief ? null : address, fires: true, asks: false, mayFail });
  });
  return {
    subject,
    act: async () => {
      const taken = await lives.say(post);
      if (id === '') post.taken(taken);
    },
    ...lookingAt(lives, () => ({ event: id })),
  };
}

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

type ShownSuppression = { readonly address: string };

const isSuppressed = async (lives: Lives, address: string): Promise<boolean> => {
  const path = `/v1/workspaces/${WORKSPACE}/suppressions?limit=500`;
  const { items } = await lives.manage<{ items: readonly ShownSuppression[] }>('GET', path);
  return items.some((one) => one.address === address);
};

/** An address that is unknown is on the list when its delivery has failed: nobody looks at that again. */
function bounced(number: number, floor: Floor, suffix = ''): Scene {
  const { lives } = floor;
  const scene = order(number, 'gone', floor, { suffix });
  const address = `gone-${number}@example.org`;
  return {
    ...scene,
    async isOver() {
      if (!(await scene.isOver())) return false;
      const [failed] = await deliveriesOf(lives, { to: address, state: 'FAILED' });
      return failed === undefined || isSuppressed(lives, address);
    },
  };
}

/** Taken off the list, the address is tried again. */
async function forgiven(number: number, floor: Floor): Promise<Scene> {
  const { lives } = floor;
  const before = bounced(number, floor);
  await before.act();
  await untilFound('an address that is suppressed', async () => (await before.isOver()) || undefined);
  const again = bounced(number, floor, '-again');
  const body = { channel: 'email', address: `gone-${number}@example.org` };
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
  const named = { workspace: WORKSPACE, name: `NOTE_${number}` };
  const put = (): Promise<unknown> => lives.manage('POST', '/v1/secrets', { ...named, value: 'a note' });
  if (thenRemoved) await put();
  const after = order(number, 'customer', floor);
  return {
    ...after,
    async act() {
      await (thenRemoved ? lives.manage('POST', '/v1/secrets/remove', named, [200, 404]) : put());
      const { items } = await lives.manage<{ items: readonly ShownSecret[] }>('GET', '/v1/secrets');
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
    ...lookingAt(lives, () => ({ to: addressOf(user) })),
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
