import type { AccountBody, ChannelBody, DeploymentBody, NotificationBody, TemplateBody } from '@carillon/shapes';
import { CHANNEL_NAMES, type ChannelName } from './channel.ts';

/* What the bodies of resources say of a channel. Their shapes name the channels that there are; nobody else does. */

type ByChannel<Value> = { readonly [Name in ChannelName]?: Value };
/** A template of one channel: its parts, and how it is rendered. */
export type ChannelTemplate = NonNullable<TemplateBody[keyof TemplateBody]>;

const channelsIn = (body: Pick<NotificationBody, 'channels'>): ByChannel<ChannelBody> => body.channels;
const templatesIn = (body: TemplateBody): ByChannel<ChannelTemplate> => body;

/** What a notification says of a channel; undefined where it does not use it. */
export const channelOf = (body: Pick<NotificationBody, 'channels'>, channel: ChannelName): ChannelBody | undefined =>
  channelsIn(body)[channel];

/** The channels of a notification, in the order of the table. */
export function channelsOf(body: Pick<NotificationBody, 'channels'>): readonly (readonly [ChannelName, ChannelBody])[] {
  return CHANNEL_NAMES.flatMap((name) => {
    const found = channelOf(body, name);
    return found ? [[name, found] as const] : [];
  });
}

/** The template of a channel; undefined where the template has none. */
export const templateOf = (body: TemplateBody, channel: ChannelName): ChannelTemplate | undefined =>
  templatesIn(body)[channel];

/** The account that all workspaces use on a channel that have none of their own. */
export function defaultAccountOf(body: DeploymentBody, channel: ChannelName): AccountBody | undefined {
  const accounts: ByChannel<AccountBody> = body.accounts ?? {};
  return accounts[channel];
}
