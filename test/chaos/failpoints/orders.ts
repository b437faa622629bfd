import type { ChannelName } from '@carillon/domain/channels';
import type { LedgerSmtp } from '@carillon/testing';
import { deviceOf, phoneOf, type ProviderFate } from '@carillon/testing/providers';
import type { BookedPartner } from '../partner.ts';
import { eventPost, type Acknowledged, type AcknowledgedChange } from '../posts.ts';
import type { Providers } from '../providers.ts';
import { ORDER_FIELDS, WORKSPACE } from '../../harness/shop.ts';
import type { Neighbours, ShopKeys } from '../shop.ts';
import type { Fate } from '../verdict.ts';
import { deliveriesOf, isOpen, type Lives, type Shown } from './lives.ts';

/** What clients and platform were promised over all cases. */
export type Promises = {
  readonly acknowledged: Acknowledged[];
  readonly changes: AcknowledgedChange[];
  /** Events that came after a change of the configuration was answered, and its number. */
  readonly judgedFrom: { readonly eventId: string; readonly number: number }[];
  /** How an event has to end, whatever came in between. */
  readonly fates: Fate[];
};

export type Floor = {
  readonly lives: Lives;
  readonly keys: ShopKeys;
  readonly neighbours: Neighbours;
  readonly partner: Pick<BookedPartner, 'admit'>;
  readonly smtp: Pick<LedgerSmtp, 'entries'>;
  readonly providers: Pick<Providers, 'twilio'>;
  /** Where mail that comes back is taken. */
  readonly bouncesPort: number;
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

export const TOLD_WITHIN = 60_000;

type Filter = Readonly<Record<string, string>>;

/** The deliveries that a scene looks at: those of an event, or to an address. */
export const lookingAt = (lives: Lives, filter: () => Filter): Pick<Scene, 'isOver' | 'deliveries'> => ({
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
  /** Left out: email. */
  readonly channel?: ChannelName;
  /** Who it is for wants or gets nothing any more. */
  readonly unwanted?: boolean;
  /** The state in which it has to end; left out: any that breaks no promise. */
  readonly ends?: Fate['state'];
};

/** What is of no use before it can be sent, or cannot be sent, has nowhere to go. */
const UNSENT: readonly string[] = ['never', 'refused', 'gone'];

/** Addresses of all channels say by their beginning what becomes of a message to them. */
export const addressOn = (channel: ChannelName, fate: ProviderFate, number: number): string =>
  ({ email: `${fate}-${number}@example.org`, sms: phoneOf(fate, number), push: deviceOf(fate, number) })[channel];

export function order(
  number: number,
  fate: ProviderFate,
  { lives, keys, promises }: Floor,
  options: OrderOptions = {},
): Scene {
  const { brief = false, suffix = '', key = keys.stream, channel = 'email', unwanted = false, ends } = options;
  const subject = `order-${number}${suffix}`;
  const told = ORDER_FIELDS[channel];
  const address = addressOn(channel, fate, number);
  const body = { order_id: subject, status: brief ? told.brief : told.status, [told.address]: address };
  let id = '';
  const post = eventPost({ ...keys, stream: key }, `key-${number}${suffix}`, body, (eventId) => {
    id = eventId;
    const mayFail = UNSENT.includes(fate);
    const to = brief || unwanted ? null : address;
    promises.acknowledged.push({ eventId, subject, to, fires: true, asks: false, mayFail });
    if (ends !== undefined) promises.fates.push({ eventId, state: ends });
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

type ShownSuppression = { readonly address: string; readonly source: string };

/** Whether an address is on the list, by this source or any. */
export const isSuppressed = async (lives: Lives, address: string, source?: string): Promise<boolean> => {
  const path = `/v1/workspaces/${WORKSPACE}/suppressions?limit=500`;
  const { items } = await lives.manage<{ items: readonly ShownSuppression[] }>('GET', path);
  return items.some((one) => one.address === address && (source === undefined || one.source === source));
};

/** An address that is unknown is on the list when its delivery has failed: nobody looks at that again. */
export function bounced(number: number, floor: Floor, channel: ChannelName, suffix = ''): Scene {
  const { lives } = floor;
  const scene = order(number, 'gone', floor, { suffix, channel });
  const address = addressOn(channel, 'gone', number);
  return {
    ...scene,
    async isOver() {
      if (!(await scene.isOver())) return false;
      const [failed] = await deliveriesOf(lives, { recipient: address, state: 'FAILED' });
      return failed === undefined || isSuppressed(lives, address);
    },
  };
}
