import type {
  AccountBody,
  ChannelBody,
  DeploymentBody,
  NamedAccount,
  NotificationBody,
  TemplateBody,
} from '@carillon/shapes';
import { CHANNEL_NAMES, CHANNELS, partPath, type ChannelName } from './channel.ts';

/* What the bodies of resources say of a channel. Their shapes name the channels that there are; nobody else does. */

type ByChannel<Value> = { readonly [Name in ChannelName]?: Value };
/** What a body holds of one channel's template. */
type WrittenTemplate = NonNullable<TemplateBody[keyof TemplateBody]>;

/** The template of one channel, as it is rendered: its parts by name, in the order of the table. */
export type ChannelTemplate = {
  readonly channel: ChannelName;
  /** Sources. A part that the author left out is not here; one of a group stands as `data.order`. */
  readonly parts: Readonly<Record<string, string>>;
  /** What is no template: `priority`, `android.channel`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether a missing variable fails the message. */
  readonly strict: boolean;
};

const channelsIn = (body: Pick<NotificationBody, 'channels'>): ByChannel<ChannelBody> => body.channels;
const templatesIn = (body: TemplateBody): ByChannel<WrittenTemplate> => body;

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

const known = new WeakMap<object, ChannelTemplate>();

/** The template of a channel; undefined where the template has none. The same object for the same body. */
export function templateOf(body: TemplateBody, channel: ChannelName): ChannelTemplate | undefined {
  const written = templatesIn(body)[channel];
  if (!written) return undefined;
  let template = known.get(written);
  if (!template) {
    template = readTemplate(channel, written);
    known.set(written, template);
  }
  return template;
}

function readTemplate(channel: ChannelName, written: WrittenTemplate): ChannelTemplate {
  const { parts, settings } = CHANNELS[channel];
  // A body is what its shape says, and nobody else's: what is no text is refused by whoever checks the part.
  const sources = parts.flatMap(({ name, group }): (readonly [string, unknown])[] => {
    const value = valueAt(written, [name]);
    return group ? Object.entries(value ?? {}).map(([key, item]) => [`${name}.${key}`, item]) : [[name, value]];
  });
  return {
    channel,
    parts: textsOf(sources),
    settings: textsOf(settings.map((name) => [name, valueAt(written, partPath(name))])),
    strict: 'strict' in written && (written.strict ?? false),
  };
}

const textsOf = (values: readonly (readonly [string, unknown])[]): Readonly<Record<string, string>> =>
  Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, string>;

const valueAt = (from: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], from);

/** The name of a channel's account where the deployment has one alone. */
export const ONLY_ACCOUNT = 'default';

/** An account of the deployment under its name; one that is not of a list is `default`. */
export type DeploymentAccount = { readonly name: string; readonly body: AccountBody };

/** The accounts that all workspaces use on a channel that have none of their own, in order of priority. */
export function defaultAccountsOf(body: DeploymentBody, channel: ChannelName): readonly DeploymentAccount[] {
  const accounts: ByChannel<AccountBody | readonly NamedAccount[]> = body.accounts ?? {};
  const found = accounts[channel];
  if (found === undefined) return [];
  if (!isList(found)) return [{ name: ONLY_ACCOUNT, body: found }];
  return found.map(({ name, ...account }) => ({ name, body: account }));
}

const isList = <Item>(value: object | readonly Item[]): value is readonly Item[] => Array.isArray(value);

/**
 * What an account that is no workspace's own is called in attempts, traces and alerts: `default`, `default:sms`,
 * `default:sms:main`. The channel that was there first is left out, since attempts and reports of earlier versions name
 * its account so.
 */
export function deploymentKey(word: string, channel: ChannelName, name = ONLY_ACCOUNT): string {
  if (name !== ONLY_ACCOUNT) return [word, channel, name].join(':');
  return channel === CHANNEL_NAMES[0] ? word : [word, channel].join(':');
}
