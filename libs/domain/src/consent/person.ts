import { formsOf, plainAddress, type ChannelName } from '../channels/channel.ts';
import { canonicalPhone, olderPhones } from '../channels/sms.ts';
import type { KeyedHash } from '../receipts/receipt-token.ts';

/** A longer name is kept as its hash, so that a link to it stays short enough for every mail program. */
const LONGEST_NAME = 200;
const HASHED = 'hash:';

/**
 * Returns the name under which a person's choices are stored: an email address or phone number in canonical form, any
 * other name unchanged. People known only by an address are found by it.
 */
export function personName(text: string, keyed: KeyedHash): string {
  const address = plainAddress(text) ?? text;
  return new TextEncoder().encode(address).length > LONGEST_NAME ? HASHED + keyed('person', address) : address;
}

/**
 * All names under which the wishes about a message may be kept: the person's own, those of the address, and the forms in which
 * earlier versions kept phone numbers. Such a form must not become canonical again, or its wishes would not be found.
 */
export function consentLookupNames(
  { person, to }: { readonly person: string; readonly to: string | null },
  channel: ChannelName,
  keyed: KeyedHash,
): readonly string[] {
  const names = [person, ...(to === null ? [] : formsOf(channel, to).slice(0, 1))];
  const olderNumbers = names.flatMap((name) => olderPhones(canonicalPhone(name) ?? ''));
  return [...new Set([...names.map((name) => personName(name, keyed)), ...olderNumbers])];
}
