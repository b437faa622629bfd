import type {
  AccountBody,
  ChannelBody,
  DeploymentBody,
  NamedAccount,
  NotificationBody,
  TemplateBody,
} from '@carillon/shapes';
import { CHANNEL_NAMES, CHANNELS, partPath, type ChannelName } from './channel.ts';

/*
 * Accessors for the channel-specific parts of resource bodies. Other code does not know which keys belong to a channel.
 */

type ByChannel<Value> = { readonly [Name in ChannelName]?: Value };
/** A channel's template as written in a body. */
type WrittenTemplate = NonNullable<TemplateBody[keyof TemplateBody]>;

/**
 * The template of one channel as the renderer takes it: its parts by name, in the order of the channel's table of
 * parts.
 */
export type ChannelTemplate = {
  readonly channel: ChannelName;
  /** Sources by part. A part that the author left out is absent. A part of a group has a name such as `data.order`. */
  readonly parts: Readonly<Record<string, string>>;
  /** Keys that are not rendered: `priority`, `android.channel`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether a missing variable fails the message. */
  readonly strict: boolean;
  /** Parts that were compiled when the template was saved: they may be larger than what people write. */
  readonly compiled: readonly string[];
};

/**
 * The template of one channel as its author wrote it, with the names of layouts and partials instead of their content.
 */
export type TemplateVariant = ChannelTemplate & {
  /** Language of the variant. Null: the default for all other readers. */
  readonly locale: string | null;
  /** Name of the layout around it. */
  readonly layout: string | null;
  /** Key and text that the author wrote, for compiled parts. */
  readonly sources: Readonly<Record<string, { readonly key: 'mjml'; readonly source: string }>>;
};

/** Returns the variant with the author's sources in place of compiled parts. */
export const asWritten = (variant: TemplateVariant): TemplateVariant =>
  variant.compiled.length === 0
    ? variant
    : {
        ...variant,
        parts: {
          ...variant.parts,
          ...Object.fromEntries(Object.entries(variant.sources).map(([name, { source }]) => [name, source])),
        },
        compiled: [],
      };

const channelsIn = (body: Pick<NotificationBody, 'channels'>): ByChannel<ChannelBody> => body.channels;
const templatesIn = (body: TemplateBody): ByChannel<WrittenTemplate> => body;

/** Returns the settings of a notification for a channel. Undefined if it does not use the channel. */
export const channelOf = (body: Pick<NotificationBody, 'channels'>, channel: ChannelName): ChannelBody | undefined =>
  channelsIn(body)[channel];

/** The channels of a notification, in the order of the table. */
export function channelsOf(body: Pick<NotificationBody, 'channels'>): readonly (readonly [ChannelName, ChannelBody])[] {
  return CHANNEL_NAMES.flatMap((name) => {
    const found = channelOf(body, name);
    return found ? [[name, found] as const] : [];
  });
}

const known = new WeakMap<object, readonly TemplateVariant[]>();

/**
 * Returns a channel's template in all languages, the default first. Empty if the template has none for the channel.
 * Returns the same objects for the same body.
 */
export function variantsOf(body: TemplateBody, channel: ChannelName): readonly TemplateVariant[] {
  const written = templatesIn(body)[channel];
  if (!written) return [];
  let variants = known.get(written);
  if (!variants) {
    const { locales = {} }: { readonly locales?: Readonly<Record<string, object>> } = written;
    const others = Object.entries(locales).map(([locale, own]) => readVariant(channel, own, written, locale));
    variants = [readVariant(channel, written, written, null), ...others];
    known.set(written, variants);
  }
  return variants;
}

/** The template of a channel as it was written, without a language; undefined where the template has none. */
export const templateOf = (body: TemplateBody, channel: ChannelName): TemplateVariant | undefined =>
  variantsOf(body, channel)[0];

/** Settings that are not text come only from the default variant, so that languages differ only in their texts. */
function readVariant(channel: ChannelName, own: object, base: object, locale: string | null): TemplateVariant {
  const { parts, settings } = CHANNELS[channel];
  const sources: (readonly [string, unknown])[] = [];
  const compiled: string[] = [];
  const written: Record<string, TemplateVariant['sources'][string]> = {};
  // A part that is no text is left out here. The check of the template reports it.
  for (const { name, group, compiledFrom } of parts) {
    const value = valueAt(own, [name]);
    const source = compiledFrom === null ? undefined : valueAt(own, [compiledFrom]);
    if (group) for (const [key, item] of Object.entries(value ?? {})) sources.push([`${name}.${key}`, item]);
    else sources.push([name, value ?? source]);
    if (compiledFrom === null || typeof source !== 'string') continue;
    written[name] = { key: compiledFrom, source };
    if (value !== undefined) compiled.push(name);
  }
  const layout = valueAt(own, ['layout']) ?? valueAt(base, ['layout']);
  return {
    channel,
    parts: textsOf(sources),
    settings: textsOf(settings.map((name) => [name, valueAt(base, partPath(name))])),
    strict: valueAt(base, ['strict']) === true,
    compiled,
    locale,
    layout: typeof layout === 'string' ? layout : null,
    sources: written,
  };
}

const textsOf = (values: readonly (readonly [string, unknown])[]): Readonly<Record<string, string>> =>
  Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, string>;

const valueAt = (from: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], from);

/** The name of a channel's account where the deployment has one alone. */
export const ONLY_ACCOUNT = 'default';

/** A named account of the deployment. An account outside a list is named `default`. */
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
 * Returns the key of an account outside workspaces in attempts, traces and alerts: `default`, `default:sms`,
 * `default:sms:main`. The first channel is omitted, because records of earlier versions have no channel.
 */
export function deploymentKey(word: string, channel: ChannelName, name = ONLY_ACCOUNT): string {
  if (name !== ONLY_ACCOUNT) return [word, channel, name].join(':');
  return channel === CHANNEL_NAMES[0] ? word : [word, channel].join(':');
}
