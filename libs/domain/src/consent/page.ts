import { CHANNEL_NAMES, type ChannelName } from '../channels/channel.ts';
import { channelOf } from '../channels/configured.ts';
import { findResource, listResources, type Configuration } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { categoryOf } from './categories.ts';
import { nameOfTarget, optOutFor, type Consents, type ConsentTarget, type Decision } from './consents.ts';
import type { ConsentLink } from './link.ts';

/** A choice offered on the page: a kind of messages, and its channels. */
export type Offer = {
  readonly target: Exclude<ConsentTarget, { kind: 'all' }>;
  /** For people. */
  readonly title: string;
  readonly description: string | null;
  /** Names that a category had before; a notification has none. */
  readonly was: readonly string[];
  readonly channels: readonly ChannelName[];
};

/**
 * Returns the choices on the preference page: every category with notifications, and the notification of the link if it
 * has no category. Transactional notifications are no choice.
 */
export function offersOf(configuration: Configuration, link: ConsentLink): readonly Offer[] {
  const ofCategory = new Map<string, Set<ChannelName>>();
  let own: Offer | null = null;
  for (const notification of listResources(configuration, 'notification')) {
    const { body, ref } = notification;
    if (ref.workspace !== link.workspace || body.transactional === true) continue;
    const channels = CHANNEL_NAMES.filter((name) => channelOf(body, name) !== undefined);
    if (body.category !== undefined) {
      const { name: category } = categoryOf(configuration, link.workspace, body.category);
      const known = ofCategory.get(category) ?? new Set();
      channels.forEach((name) => known.add(name));
      ofCategory.set(category, known);
    } else if (notificationIdOf(notification) === link.notificationId) {
      const target = { kind: 'notification', name: link.notificationId } as const;
      own = { target, title: body.name ?? ref.name, description: null, was: [], channels };
    }
  }
  // The link's own stays to be chosen after its category went out of use.
  const linked = link.category === null ? null : categoryOf(configuration, link.workspace, link.category).name;
  if (linked !== null && !ofCategory.has(linked)) ofCategory.set(linked, new Set([link.channel]));
  const categories = [...ofCategory]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, channels]): Offer => {
      const { title, description, was } = categoryOf(configuration, link.workspace, name);
      const offered = CHANNEL_NAMES.filter((channel) => channels.has(channel));
      return { target: { kind: 'category', name }, title, description, was, channels: offered };
    });
  return own ? [...categories, own] : categories;
}

/** How the workspace is called for people. */
export const workspaceTitle = (configuration: Configuration, workspace: string): string =>
  findResource(configuration, 'workspace', workspace, workspace)?.body.name ?? workspace;

/** Names a box of the page; the same for the same choice. */
export const boxOf = ({ target }: Offer, channel: ChannelName): string =>
  `${target.kind}:${nameOfTarget(target)}:${channel}`;

/** Whether it comes now, everything else being wanted. */
export const isWanted = (
  documents: readonly Pick<Consents, 'words'>[],
  { target, was }: Offer,
  channel: ChannelName,
): boolean => {
  const words = documents.flatMap((one) => one.words.filter((word) => word.target.kind === target.kind));
  const question =
    target.kind === 'category'
      ? { notificationId: '', categories: [target.name, ...was], channel }
      : { notificationId: target.name, categories: [], channel };
  return optOutFor([{ words }], question) === null;
};

/** Whether everything was stopped, on some or all channels. */
export const isAllStopped = (documents: readonly Pick<Consents, 'words'>[]): boolean =>
  documents.some(({ words }) => words.some(({ target, optedOut }) => target.kind === 'all' && optedOut));

/**
 * Returns the choices made on the page: of the boxes that were shown, the checked ones are wanted. Other choices stay.
 */
export function decisionsOf(
  offers: readonly Offer[],
  shown: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): readonly Decision[] {
  return offers.flatMap((offer) => {
    const boxes = offer.channels.filter((channel) => shown.has(boxOf(offer, channel)));
    if (boxes.length === 0) return [];
    const { target, was } = offer;
    const wantedOn = (channel: ChannelName): boolean => wanted.has(boxOf(offer, channel));
    const each = boxes.map((channel): Decision => ({ target, channel, optedOut: !wantedOn(channel), way: 'page' }));
    // An opt-out for all channels, or under a former name of the category, would also block a wanted channel. It is
    // replaced by one choice per channel.
    const taken = boxes.filter(wantedOn);
    if (taken.length === 0) return each;
    const others = was.map((name) => ({ kind: 'category', name }) as const);
    const back = [
      { target, channel: null },
      ...others.flatMap((other) => [null, ...taken].map((channel) => ({ target: other, channel }))),
    ];
    return [...each, ...back.map((one): Decision => ({ ...one, optedOut: false, way: 'page' }))];
  });
}

export const STOP_ALL: Decision = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'page' };
/** Whatever channel it was stopped on. */
export const ALLOW_ALL: readonly Decision[] = [null, ...CHANNEL_NAMES].map((channel) => ({
  ...STOP_ALL,
  channel,
  optedOut: false,
}));
