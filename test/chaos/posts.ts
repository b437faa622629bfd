import { createChance } from '../harness/chance.ts';
import type { ChannelName } from '@carillon/domain/channels';
import { deviceOf, phoneOf } from '@carillon/testing/providers';
import { addressOf, type Character } from './partner.ts';
import { STREAM, ORDER_FIELDS } from '../harness/shop.ts';
import { COHORT_PATH, type ShopKeys } from './shop.ts';

/** An event that was answered with 202: from then on it is a promise. */
export type Acknowledged = {
  readonly eventId: string;
  /** What its message is about: an order's unique id, whom the partner is asked about, or the change of a cohort. */
  readonly subject: string;
  /** Where its message is to go; null: the partner has no address, so that it is suppressed. */
  readonly to: string | null;
  /** Whether a message is to be made of it. */
  readonly fires: boolean;
  /** Whether the partner has to be asked. */
  readonly asks: boolean;
  /** The mail server refuses it, or somebody cancels it: then nobody has to be told. */
  readonly mayFail?: boolean;
  /** The partner refuses to tell who it is about, until somebody has it asked again: a dead letter says so. */
  readonly parks?: boolean;
};

/** Somebody entered or left the cohort, and the platform had its 202 for it. The product makes the event of it. */
export type AcknowledgedChange = { readonly kind: 'entered' | 'left'; readonly user: string };

/** A request that is to be sent until it is answered with 202. */
export type Post = {
  /** Below the address of the gateway. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What it is, for people. */
  readonly name: string;
  /** To be called with the id of the first 202. */
  readonly taken: (id: string) => void;
  /** Whether a repetition has to be answered with the same id. */
  readonly idempotent: boolean;
};

/** The mixture of what is posted; what is left out is as by default. */
export type Mixture = {
  /** Share of orders and lookups that somebody is to be told of: all orders, and most lookups. */
  readonly firing?: number;
  /** Share of events of which a partner says who is told. */
  readonly lookups?: number;
  /** Share of orders that are told by SMS, and as many by push messages; none, unless told. */
  readonly elsewhere?: number;
  /** Share of changes of a cohort. */
  readonly changes?: number;
  /** How many leave a second cohort because whole exports of it name them no more; nobody, unless told. */
  readonly leavers?: number;
};

export type PostsOptions = {
  readonly seed: number;
  readonly keys: ShopKeys;
  readonly mixture?: Mixture | undefined;
};

/** What is said to the product, and what it has taken on so far. */
export type Posts = {
  /** The first sync of the cohort, its last page first and one page twice. To be taken before anything else is said. */
  readonly firstSync: readonly Post[];
  readonly firstMembers: readonly string[];
  /** Whole exports of the second cohort, page by page: each names some fewer than the one before. */
  readonly exports: readonly (readonly Post[])[];
  next(): Post;
  /** How many were made by `next`. */
  made(): number;
  readonly acknowledged: readonly Acknowledged[];
  readonly changes: readonly AcknowledgedChange[];
  /** Whoever has this number has opted out, and was told that it counts: what is ordered from now on goes to nobody there. */
  readonly optedOut: (phone: string) => void;
};

const LOOKUPS = 0.2;
const CHANGES = 0.1;
/** Share of orders whose unique id an earlier order had. */
const REUSED = 0.1;
/** Share of lookups about somebody who has an address and wants mail, of those that fire. */
const TOLD = 0.75;
const SILENT: readonly Character[] = ['quiet', 'nobody', 'mute'];
/** Share of changes by which somebody leaves. */
const LEAVING = 0.4;
/** Share of SMS and push messages that are taken and not answered. */
const UNANSWERED = 0.05;
/** Share of SMS to somebody who wants none any more, once there is one. */
const UNWANTED = 0.3;
const PAGES = 3;
const MEMBERS_OF_PAGE = 60;
/** So many leave the second cohort by each export. */
const LEAVERS_OF_EXPORT = 50;

/** An event of the shop's stream, named by its idempotency key. */
export const eventPost = (keys: ShopKeys, name: string, body: object, taken: Post['taken']): Post => ({
  path: `/events/${STREAM}`,
  headers: { authorization: `Bearer ${keys.stream}`, 'idempotency-key': name },
  body,
  name,
  taken,
  idempotent: true,
});

const cohortPost = (keys: ShopKeys, name: string, body: object, taken: () => void): Post => ({
  path: COHORT_PATH,
  headers: { authorization: `Bearer ${keys.cohort}` },
  body: { cohort: 'vip', ...body },
  name,
  taken,
  idempotent: false,
});

/** Says who came or went, and since when, as a platform must whose requests can overtake each other. */
export function changePost(keys: ShopKeys, kind: AcknowledgedChange['kind'], user: string, taken: () => void): Post {
  const action = kind === 'entered' ? 'add' : 'remove';
  return cohortPost(keys, `${kind}/${user}`, { action, user_ids: [user], time: new Date().toISOString() }, taken);
}

/** Orders, orders that somebody watches, and the comings and goings of a cohort, mixed by chance. */
export function createPosts(options: PostsOptions): Posts {
  const {
    keys,
    mixture: { firing = 1, lookups = LOOKUPS, changes: changing = CHANGES, elsewhere = 0, leavers = 0 } = {},
  } = options;
  const chance = createChance(options.seed);
  const acknowledged: Acknowledged[] = [];
  const changes: AcknowledgedChange[] = [];
  const orders: Record<ChannelName, string[]> = { email: [], sms: [], push: [] };
  const stopped: string[] = [];
  const firstMembers = Array.from({ length: PAGES * MEMBERS_OF_PAGE }, (_, at) => `first-${at}`);
  const club = Array.from({ length: leavers }, (_, at) => `club-${at}`);
  /** Who is in the cohort and may leave it. */
  const inside = [...firstMembers];
  let made = 0;

  const event = (body: object, promise: Omit<Acknowledged, 'eventId'>): Post =>
    eventPost(keys, `key-${made}`, body, (eventId) => void acknowledged.push({ ...promise, eventId }));

  function channelOf(): ChannelName {
    const draw = elsewhere === 0 ? 1 : chance();
    return draw < elsewhere ? 'sms' : draw < 2 * elsewhere ? 'push' : 'email';
  }

  function order(): Post {
    const channel = channelOf();
    const earlier = orders[channel][Math.floor(chance() * orders[channel].length)];
    const again = earlier !== undefined && chance() < REUSED;
    const unwanted = channel === 'sms' && !again && chance() < UNWANTED ? stopped.at(-1) : undefined;
    const subject = again ? earlier : `order-${made}`;
    // Nothing of it may be taken for a message that was promised: it has no other order beside it.
    if (unwanted === undefined) orders[channel].push(subject);
    const fires = chance() < firing;
    const address = unwanted ?? newAddress(channel);
    const told = ORDER_FIELDS[channel];
    const body = { order_id: subject, status: fires ? told.status : 'open', [told.address]: address };
    return event(body, { subject, to: unwanted === undefined ? address : null, fires, asks: false });
  }

  function newAddress(channel: ChannelName): string {
    const fate = channel !== 'email' && chance() < UNANSWERED ? 'unanswered' : 'customer';
    return { email: `customer-${made}@example.org`, sms: phoneOf(fate, made), push: deviceOf(fate, made) }[channel];
  }

  function watchedOrder(): Post {
    const told = chance() < TOLD * firing;
    const character = told ? 'user' : (SILENT[Math.floor(chance() * SILENT.length)] ?? 'quiet');
    const subject = `${character}-${made}`;
    const body = { order_id: `order-${made}`, status: 'watched', watcher: subject };
    const to = told ? addressOf(subject) : null;
    return event(body, { subject, to, fires: told || character === 'mute', asks: true });
  }

  function change(): Post {
    const [leaver] = chance() < LEAVING ? inside.splice(Math.floor(chance() * inside.length), 1) : [];
    const kind = leaver === undefined ? 'entered' : 'left';
    const user = leaver ?? `member-${made}`;
    return changePost(keys, kind, user, () => {
      changes.push({ kind, user });
      if (kind === 'entered') inside.push(user);
    });
  }

  function page(number: number): Post {
    const users = firstMembers.slice((number - 1) * MEMBERS_OF_PAGE, number * MEMBERS_OF_PAGE);
    const body = { action: 'replace', user_ids: users, session: 'first', page: number, pages: PAGES };
    return cohortPost(keys, `page ${number}`, body, () => undefined);
  }

  /** Exports the second cohort once so many have gone. With its last page those leave who were on the one before. */
  function exportOf(gone: number): readonly Post[] {
    const members = club.slice(gone);
    return Array.from({ length: PAGES }, (_, at) => {
      const users = members.filter((_member, index) => index % PAGES === at);
      const body = {
        cohort: 'club',
        action: 'replace',
        user_ids: users,
        session: `${gone} gone`,
        page: at + 1,
        pages: PAGES,
      };
      return cohortPost(keys, `page ${at + 1} without ${gone}`, body, () => {
        if (at + 1 < PAGES) return;
        for (const user of club.slice(gone - LEAVERS_OF_EXPORT, gone)) changes.push({ kind: 'left', user });
      });
    });
  }
  const exports = Array.from({ length: leavers / LEAVERS_OF_EXPORT }, (_, at) =>
    exportOf((at + 1) * LEAVERS_OF_EXPORT),
  );

  return {
    firstSync: [
      ...(leavers > 0 ? exportOf(0) : []),
      ...Array.from({ length: PAGES }, (_, at) => page(PAGES - at)),
      page(PAGES),
    ],
    firstMembers: [...firstMembers, ...club],
    exports,
    acknowledged,
    changes,
    made: () => made,
    optedOut: (phone) => void stopped.push(phone),
    next() {
      const kind = chance();
      const post = kind < changing ? change() : kind < changing + lookups ? watchedOrder() : order();
      made += 1;
      return post;
    },
  };
}
