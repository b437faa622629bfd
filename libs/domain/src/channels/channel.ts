import { PROVIDERS, type ProviderKind } from '@carillon/shapes/providers';
import { CHANNEL_NAMES } from '@carillon/shapes/values';
import { CONTROL } from '@carillon/kernel';
import { canonicalEmail, olderEmails } from './email.ts';
import { canonicalToken } from './push.ts';
import { canonicalPhone, olderPhones } from './sms.ts';

/**
 * Channel names in order of preference: the first address in this order identifies a person or a `unique_id` that the
 * rule does not set.
 */
export { CHANNEL_NAMES };
export type ChannelName = (typeof CHANNEL_NAMES)[number];

/** Kind of address a channel sends to. Each channel uses one kind, and each kind belongs to one channel. */
export type AddressKind = 'email' | 'phone' | 'token';

/** Addresses of a person by kind: canonical if valid, else as written. Null if the person has none. */
export type Addresses = { readonly [Kind in AddressKind]: string | null };

export type Channel = {
  readonly name: ChannelName;
  readonly address: {
    readonly kind: AddressKind;
    /** Display name of the address. */
    readonly called: string;
    /** Completes "it is no …" in messages. */
    readonly words: string;
    /** An address that belongs to nobody, for samples. */
    readonly example: string;
    /**
     * Returns the canonical form of an address, used for sending, counting and suppression. Null if the text is no
     * address of this kind. Idempotent.
     */
    readonly canonical: (text: string) => string | null;
    /** Returns true if text that is meant as an address can only be of this kind. */
    readonly looksLike: (text: string) => boolean;
    /** Returns other forms in which earlier versions may have stored a canonical address. */
    readonly older: (canonical: string) => readonly string[];
  };
  /** Kinds of provider accounts that carry the channel. */
  readonly accounts: readonly ProviderKind[];
  /** Parts of its templates, in the order of checking and rendering. */
  readonly parts: readonly TemplatePart[];
  /** Template keys that are not rendered, as written by `partPath`. */
  readonly settings: readonly string[];
  /** Parts of which a template needs at least one. */
  readonly content: readonly string[];
  /** True if mail programs expect an unsubscribe link and reject bulk mail without one (RFC 8058). */
  readonly stopsByLink: boolean;
};

/**
 * Type of a rendered part, which decides how values are inserted. `line`: one line without control characters,
 * truncated if too long. `mailbox`: a line with name and address. `html`: values are escaped. `text`: inserted
 * unchanged. `link`: an https address or empty. `key`: a line that is only compared. Only lines and mailboxes are
 * truncated.
 */
export type PartKind = 'line' | 'mailbox' | 'html' | 'text' | 'link' | 'key';

/** A part of a channel's template. */
export type TemplatePart = {
  readonly name: string;
  readonly kind: PartKind;
  /**
   * Maximum length of the rendered part in characters; in bytes for a key. Null if only the limits of rendering apply.
   */
  readonly longest: number | null;
  /** If a template omits the part: the part whose HTML supplies its text, or whether the omission is allowed. */
  readonly otherwise: { readonly textOf: string } | 'nothing' | 'refused';
  /** True if the part is a group of parts with names chosen by the author, such as `data.order`. */
  readonly group: boolean;
  /** Whether a workspace layout may wrap the part. `needed`: a layout must support this part. */
  readonly layout: 'needed' | 'optional' | null;
  /** Key of the source the part may be compiled from when it is saved. Null if it is never compiled. */
  readonly compiledFrom: 'mjml' | null;
};
const part = (
  name: string,
  kind: PartKind,
  longest: number | null = null,
  otherwise: TemplatePart['otherwise'] = 'nothing',
  layout: TemplatePart['layout'] = null,
): TemplatePart => ({ name, kind, longest, otherwise, group: false, layout, compiledFrom: null });
const group = (name: string, kind: PartKind, longest: number): TemplatePart => ({
  ...part(name, kind, longest),
  group: true,
});

const kindsFor = (channel: ChannelName): readonly ProviderKind[] =>
  PROVIDERS.filter(({ channels }) => channels.some((name) => name === channel)).map(({ kind }) => kind);

/** All differences between channels. Other code looks them up here by channel name. */
export const CHANNELS: { readonly [Name in ChannelName]: Channel & { readonly name: Name } } = {
  email: {
    name: 'email',
    address: {
      kind: 'email',
      called: 'email address',
      words: 'email address',
      example: 'ada@example.com',
      canonical: canonicalEmail,
      looksLike: (text) => text.includes('@'),
      older: olderEmails,
    },
    accounts: kindsFor('email'),
    parts: [
      part('subject', 'line', 255, 'refused'),
      part('from', 'mailbox', 320),
      part('preheader', 'line', 255),
      { ...part('html', 'html', null, 'nothing', 'needed'), compiledFrom: 'mjml' },
      part('text', 'text', null, { textOf: 'html' }, 'optional'),
    ],
    settings: [],
    content: ['html', 'text'],
    stopsByLink: true,
  },
  sms: {
    name: 'sms',
    address: {
      kind: 'phone',
      called: 'phone number',
      words: 'phone number in international form, such as +49 30 123456',
      example: '+15555550100',
      canonical: canonicalPhone,
      looksLike: (text) => /^\s*\+[^@]*$/.test(text),
      older: olderPhones,
    },
    accounts: kindsFor('sms'),
    parts: [part('text', 'text', 1600)],
    settings: [],
    content: ['text'],
    stopsByLink: false,
  },
  push: {
    name: 'push',
    address: {
      kind: 'token',
      called: 'device token',
      words: 'device token (at most 4,096 characters, none of them a control character)',
      example: 'device-token',
      canonical: canonicalToken,
      // Never, because any text may be a token.
      looksLike: () => false,
      older: () => [],
    },
    accounts: kindsFor('push'),
    parts: [
      part('title', 'line', 255),
      part('body', 'text', 4096),
      part('image', 'link', 2000),
      part('link', 'link', 2000),
      group('data', 'text', 4096),
      // Limit of Apple.
      part('collapse', 'key', 64),
    ],
    settings: ['priority', 'android.channel', 'apns.sound'],
    content: ['title', 'body'],
    stopsByLink: false,
  },
};

/** Returns the path of a part in a template's body, such as key `order` of `data` for `data.order`. */
export function partPath(name: string): readonly string[] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name] : [name.slice(0, dot), name.slice(dot + 1)];
}

/** Kinds of addresses, in the order of their channels. */
export const ADDRESS_KINDS: readonly AddressKind[] = CHANNEL_NAMES.map((name) => CHANNELS[name].address.kind);

const BY_KIND = Object.fromEntries(
  CHANNEL_NAMES.map((name) => [CHANNELS[name].address.kind, CHANNELS[name].address]),
) as Record<AddressKind, Channel['address']>;

/** Returns the names and forms of a kind of address. */
export const addressKind = (kind: AddressKind): Channel['address'] => BY_KIND[kind];

/** Returns the canonical form of an address, or null if the text is no address of the channel. */
export const canonicalAddress = (channel: ChannelName, text: string): string | null =>
  CHANNELS[channel].address.canonical(text);

/**
 * Returns the channel whose addresses look like the text. Undefined if several are possible; a device token may be any
 * text.
 */
export const channelByLooks = (text: string): ChannelName | undefined =>
  CHANNEL_NAMES.find((name) => CHANNELS[name].address.looksLike(text));

/**
 * Returns the canonical form of an email address or phone number. Null for any other text, including device tokens,
 * which could also be names.
 */
export const plainAddress = (text: string): string | null => canonicalEmail(text) ?? canonicalPhone(text);

/**
 * Returns all forms in which an address may be stored, the canonical one first. Text that is no address has only
 * itself.
 */
export function formsOf(channel: ChannelName, text: string): readonly string[] {
  const { canonical, older } = CHANNELS[channel].address;
  const address = canonical(text);
  return address === null ? [text] : [address, ...older(address)];
}

/** Returns all forms of an address per channel, if its channel is unknown. */
export const formsOnChannels = (
  text: string,
  channels: readonly ChannelName[] = CHANNEL_NAMES,
): readonly (readonly [ChannelName, readonly string[]])[] => channels.map((name) => [name, formsOf(name, text)]);

const EVERY_CONTROL = new RegExp(CONTROL, 'g');

/**
 * Returns the address in canonical form. An invalid address stays as written, so that people can find the mistake, with
 * U+FFFD for characters that cannot be stored. Null for blank text.
 */
export function addressOrText(kind: AddressKind, text: string): string | null {
  const address = BY_KIND[kind].canonical(text);
  if (address !== null) return address;
  const written = text.trim().toWellFormed().replace(EVERY_CONTROL, '\ufffd');
  return written === '' ? null : written;
}

export const addressesBy = (make: (kind: AddressKind) => string | null): Addresses => ({
  email: make('email'),
  phone: make('phone'),
  token: make('token'),
});

/** Returns each address in its canonical form, or as written. */
export const addressesOf = (written: Addresses): Addresses =>
  addressesBy((kind) => {
    const text = written[kind];
    return text === null ? null : addressOrText(kind, text);
  });

export const isAddressKind = (text: string | null): text is AddressKind => ADDRESS_KINDS.some((kind) => kind === text);

/** Returns the first address of a person in order of preference, or null if there is none. */
export function firstAddress(to: Addresses): string | null {
  for (const kind of ADDRESS_KINDS) if (to[kind] !== null) return to[kind];
  return null;
}
