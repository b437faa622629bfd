import { CHANNEL_NAMES, type ChannelName } from '../channels/channel.ts';
import { channelOf } from '../channels/configured.ts';
import { findResource, listResources, type Configuration } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { nameOfTarget, optOutFor, type Consents, type ConsentTarget, type Decision } from './consents.ts';
import type { ConsentLink } from './link.ts';

/** What a person can choose: a kind of messages, and the channels on which it comes. */
export type Offer = {
  readonly target: Exclude<ConsentTarget, { kind: 'all' }>;
  /** For people. */
  readonly title: string;
  readonly channels: readonly ChannelName[];
};

/**
 * What the page of a link offers: every category of the workspace that has messages, and the notification of the link where
 * it has none. What is transactional is no choice.
 */
export function offersOf(configuration: Configuration, link: ConsentLink): readonly Offer[] {
  const ofCategory = new Map<string, Set<ChannelName>>();
  let own: Offer | null = null;
  for (const notification of listResources(configuration, 'notification')) {
    const { body, ref } = notification;
    if (ref.workspace !== link.workspace || body.transactional === true) continue;
    const channels = CHANNEL_NAMES.filter((name) => channelOf(body, name) !== undefined);
    if (body.category !== undefined) {
      const known = ofCategory.get(body.category) ?? new Set();
      channels.forEach((name) => known.add(name));
      ofCategory.set(body.category, known);
    } else if (notificationIdOf(notification) === link.notificationId) {
      const target = { kind: 'notification', name: link.notificationId } as const;
      own = { target, title: body.name ?? ref.name, channels };
    }
  }
  // The link's own stays to be chosen after its category went out of use.
  if (link.category !== null && !ofCategory.has(link.category)) ofCategory.set(link.category, new Set([link.channel]));
  const categories = [...ofCategory]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, channels]): Offer => ({
      target: { kind: 'category', name },
      title: titleOf(name),
      channels: CHANNEL_NAMES.filter((channel) => channels.has(channel)),
    }));
  return own ? [...categories, own] : categories;
}

/** `order-updates` as people read it. */
const titleOf = (slug: string): string => {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** How the workspace is called for people. */
export const workspaceTitle = (configuration: Configuration, workspace: string): string =>
  findResource(configuration, 'workspace', workspace, workspace)?.body.name ?? workspace;

/** Names a box of the page; the same for the same choice. */
export const boxOf = ({ target }: Offer, channel: ChannelName): string =>
  `${target.kind}:${nameOfTarget(target)}:${channel}`;

/** Whether it comes now, everything else being wanted. */
export const isWanted = (
  documents: readonly Pick<Consents, 'words'>[],
  { target }: Offer,
  channel: ChannelName,
): boolean => {
  const words = documents.flatMap((one) => one.words.filter((word) => word.target.kind === target.kind));
  const question =
    target.kind === 'category'
      ? { notificationId: '', category: target.name, channel }
      : { notificationId: target.name, category: null, channel };
  return optOutFor([{ words }], question) === null;
};

/** Whether everything was stopped, on some or all channels. */
export const isAllStopped = (documents: readonly Pick<Consents, 'words'>[]): boolean =>
  documents.some(({ words }) => words.some(({ target, optedOut }) => target.kind === 'all' && optedOut));

/** What was chosen on the page: of the boxes that were shown, those that are wanted. Others stay as they are. */
export function decisionsOf(
  offers: readonly Offer[],
  shown: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): readonly Decision[] {
  return offers.flatMap((offer) => {
    const boxes = offer.channels.filter((channel) => shown.has(boxOf(offer, channel)));
    if (boxes.length === 0) return [];
    const { target } = offer;
    const each = boxes.map((channel): Decision => ({
      target,
      channel,
      optedOut: !wanted.has(boxOf(offer, channel)),
      way: 'page',
    }));
    // A word about all channels would hold back what is wanted on one of them: those about each take its place.
    return boxes.some((channel) => wanted.has(boxOf(offer, channel)))
      ? [...each, { target, channel: null, optedOut: false, way: 'page' }]
      : each;
  });
}

export const STOP_ALL: Decision = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'page' };
/** Whatever channel it was stopped on. */
export const ALLOW_ALL: readonly Decision[] = [null, ...CHANNEL_NAMES].map((channel) => ({
  ...STOP_ALL,
  channel,
  optedOut: false,
}));
