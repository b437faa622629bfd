import { PROVIDERS, type ProviderKind } from '@carillon/shapes/providers';
import { CHANNEL_NAMES } from '@carillon/shapes/values';
import { CONTROL } from '@carillon/kernel';
import { canonicalEmail, olderEmails } from './email.ts';
import { canonicalToken } from './push.ts';
import { canonicalPhone, olderPhones } from './sms.ts';

/** In this order addresses stand in for a person and for a `unique_id` that nobody wrote. */
export { CHANNEL_NAMES };
export type ChannelName = (typeof CHANNEL_NAMES)[number];

/** What a channel sends to. Each channel takes one kind, and each kind serves one channel. */
export type AddressKind = 'email' | 'phone' | 'token';

/** The addresses of somebody: canonical where they are valid, else as they were written; null where there is none. */
export type Addresses = { readonly [Kind in AddressKind]: string | null };

export type Channel = {
  readonly name: ChannelName;
  readonly address: {
    readonly kind: AddressKind;
    /** What people call it. */
    readonly called: string;
    /** Completes "it is no …", for people. */
    readonly words: string;
    /** One that is nobody's, for samples. */
    readonly example: string;
    /**
     * The one form of an address, under which it is told, counted, suppressed and sent to. Null where the text is no
     * address of this kind. The canonical form of a canonical address is itself.
     */
    readonly canonical: (text: string) => string | null;
    /** Whether text that is meant as some address can be of no other kind. */
    readonly looksLike: (text: string) => boolean;
    /** Other forms under which earlier versions may have kept a canonical address. */
    readonly older: (canonical: string) => readonly string[];
  };
  /** Kinds of provider accounts that can carry it. */
  readonly accounts: readonly ProviderKind[];
  /** Parts of its templates, in the order in which they are checked and rendered. */
  readonly parts: readonly TemplatePart[];
  /** Keys of its templates that are no templates themselves, as `partPath` writes them. */
  readonly settings: readonly string[];
  /** A template without any of these says nothing, and is refused. */
  readonly content: readonly string[];
  /** Whether readers' programs expect a link that stops such messages, and refuse senders in bulk without one (RFC 8058). */
  readonly stopsByLink: boolean;
};

/**
 * What comes out of a part, and what a value becomes in it. `line`: one line without control characters, cut off where it
 * is too long. `mailbox`: a line that is a name and an address. `html`: values are escaped. `text`: as it stands. `link`: an
 * https address, or nothing. `key`: a line that is only compared. Nothing but lines and mailboxes is ever cut off.
 */
export type PartKind = 'line' | 'mailbox' | 'html' | 'text' | 'link' | 'key';

/** A part of a channel's template. */
export type TemplatePart = {
  readonly name: string;
  readonly kind: PartKind;
  /** Characters of what is rendered, of a key bytes; null where only the limits of rendering count. */
  readonly longest: number | null;
  /** Where a template leaves it out: the part whose HTML it is derived from, or whether it can do without it. */
  readonly otherwise: { readonly textOf: string } | 'nothing' | 'refused';
  /** It is a group of parts, each by a name that the author chose: `data.order`. */
  readonly group: boolean;
  /** A layout of the workspace may stand around it. `needed`: one that is named has to have something for this part. */
  readonly layout: 'needed' | 'optional' | null;
  /** The key of what it may be compiled from when it is saved; null: it is always written as it is. */
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

/** Returns the kinds of provider accounts that carry a channel. */
const kindsFor = (channel: ChannelName): readonly ProviderKind[] =>
  PROVIDERS.filter(({ channels }) => channels.some((name) => name === channel)).map(({ kind }) => kind);

/** All that differs between channels. Everything else takes a channel's name and looks here. */
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
      // Any text may be one.
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
      // What Apple takes of one.
      part('collapse', 'key', 64),
    ],
    settings: ['priority', 'android.channel', 'apns.sound'],
    content: ['title', 'body'],
    stopsByLink: false,
  },
};

/** Where a part stands in a template's body: `data.order` is the key `order` of `data`. */
export function partPath(name: string): readonly string[] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name] : [name.slice(0, dot), name.slice(dot + 1)];
}

/** The kinds of addresses, in the order of their channels. */
export const ADDRESS_KINDS: readonly AddressKind[] = CHANNEL_NAMES.map((name) => CHANNELS[name].address.kind);

const BY_KIND = Object.fromEntries(
  CHANNEL_NAMES.map((name) => [CHANNELS[name].address.kind, CHANNELS[name].address]),
) as Record<AddressKind, Channel['address']>;

/** The channel's own words and forms for a kind of address. */
export const addressKind = (kind: AddressKind): Channel['address'] => BY_KIND[kind];

/** The address in its one form; null where the text is no address of the channel. */
export const canonicalAddress = (channel: ChannelName, text: string): string | null =>
  CHANNELS[channel].address.canonical(text);

/** The channel of an address by its looks; undefined where it may be of several, as a device token may be anything. */
export const channelByLooks = (text: string): ChannelName | undefined =>
  CHANNEL_NAMES.find((name) => CHANNELS[name].address.looksLike(text));

/**
 * The one form of text that can be meant as an address and as nothing else: an email address or a phone number. Null for any
 * other text, and so for a device token, which could be a name as well.
 */
export const plainAddress = (text: string): string | null => canonicalEmail(text) ?? canonicalPhone(text);

/** All forms under which an address may be on a list, the canonical one first. Text that is no address has its own alone. */
export function formsOf(channel: ChannelName, text: string): readonly string[] {
  const { canonical, older } = CHANNELS[channel].address;
  const address = canonical(text);
  return address === null ? [text] : [address, ...older(address)];
}

/** All forms of an address by channel, where nobody said of which channel it is. */
export const formsOnChannels = (
  text: string,
  channels: readonly ChannelName[] = CHANNEL_NAMES,
): readonly (readonly [ChannelName, readonly string[]])[] => channels.map((name) => [name, formsOf(name, text)]);

const EVERY_CONTROL = new RegExp(CONTROL, 'g');

/**
 * The address as a recipient has it: canonical; else as it was written, so that people see what is wrong with it, with
 * U+FFFD for characters that nothing may keep. Null for text without any.
 */
export function addressOrText(kind: AddressKind, text: string): string | null {
  const address = BY_KIND[kind].canonical(text);
  if (address !== null) return address;
  const written = text.trim().toWellFormed().replace(EVERY_CONTROL, '\ufffd');
  return written === '' ? null : written;
}

/** One address of each kind. */
export const addressesBy = (make: (kind: AddressKind) => string | null): Addresses => ({
  email: make('email'),
  phone: make('phone'),
  token: make('token'),
});

/** Addresses as they were written, each as a recipient has it. */
export const addressesOf = (written: Addresses): Addresses =>
  addressesBy((kind) => {
    const text = written[kind];
    return text === null ? null : addressOrText(kind, text);
  });

/** Whether a word names a kind of addresses. */
export const isAddressKind = (word: string | null): word is AddressKind => ADDRESS_KINDS.some((kind) => kind === word);

/** The first address that somebody has; null where there is none. */
export function firstAddress(to: Addresses): string | null {
  for (const kind of ADDRESS_KINDS) if (to[kind] !== null) return to[kind];
  return null;
}
