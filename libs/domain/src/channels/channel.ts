import { CONTROL } from '@carillon/kernel';
import type { AccountBody } from '@carillon/shapes';
import { canonicalEmail, olderEmails } from './email.ts';
import { canonicalToken } from './push.ts';
import { canonicalPhone } from './sms.ts';

export type ChannelName = 'email' | 'sms' | 'push';

/** What a channel sends to. Each channel takes one kind, and each kind serves one channel. */
export type AddressKind = 'email' | 'phone' | 'token';

/** The addresses of somebody: canonical where they are valid, else as they were written; null where there is none. */
export type Addresses = { readonly [Kind in AddressKind]: string | null };

export type Channel = {
  readonly name: ChannelName;
  readonly address: {
    readonly kind: AddressKind;
    /** Completes "it is no …", for people. */
    readonly words: string;
    /** One that is nobody's, for samples. */
    readonly example: string;
    /**
     * The one form of an address, under which it is told, counted, suppressed and sent to. Null where the text is no
     * address of this kind. The canonical form of a canonical address is itself.
     */
    readonly canonical: (text: string) => string | null;
    /** Other forms under which earlier versions may have kept a canonical address. */
    readonly older: (canonical: string) => readonly string[];
  };
  /** Kinds of provider accounts that can carry it. */
  readonly accounts: readonly AccountBody['kind'][];
  /** Parts of its templates, in the order in which people read them. */
  readonly parts: readonly TemplatePart[];
};

/** A part of a channel's template. */
export type TemplatePart = {
  readonly name: string;
  /** Characters of what is rendered; null where only the limits of rendering count. */
  readonly longest: number | null;
};
const part = (name: string, longest: number | null = null): TemplatePart => ({ name, longest });

/** All that differs between channels. Everything else takes a channel's name and looks here. */
export const CHANNELS: { readonly [Name in ChannelName]: Channel & { readonly name: Name } } = {
  email: {
    name: 'email',
    address: {
      kind: 'email',
      words: 'email address',
      example: 'ada@example.com',
      canonical: canonicalEmail,
      older: olderEmails,
    },
    accounts: ['smtp', 'sandbox'],
    parts: [part('from', 1000), part('subject', 1000), part('html'), part('text')],
  },
  sms: {
    name: 'sms',
    address: {
      kind: 'phone',
      words: 'phone number in international form (+ and 7 to 15 digits)',
      example: '+15555550100',
      canonical: canonicalPhone,
      older: () => [],
    },
    accounts: [],
    parts: [part('text', 1600)],
  },
  push: {
    name: 'push',
    address: {
      kind: 'token',
      words: 'device token (text without control characters)',
      example: 'device-token',
      canonical: canonicalToken,
      older: () => [],
    },
    accounts: [],
    parts: [part('title', 1000), part('body'), part('data')],
  },
};

/** In this order addresses stand in for a person and for a `unique_id` that nobody wrote. */
export const CHANNEL_NAMES = ['email', 'sms', 'push'] as const satisfies readonly ChannelName[];

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

/** All forms under which an address may be on a list, the canonical one first. Text that is no address has its own alone. */
export function formsOf(channel: ChannelName, text: string): readonly string[] {
  const { canonical, older } = CHANNELS[channel].address;
  const address = canonical(text);
  return address === null ? [text] : [address, ...older(address)];
}

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
