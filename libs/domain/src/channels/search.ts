import { CHANNEL_NAMES, CHANNELS, canonicalAddress } from './channel.ts';
import { withoutSeparators } from './sms.ts';

/**
 * Returns the beginnings of addresses that a search text matches: the text, the text in lower case, its canonical form on each channel, and
 * the beginning of a phone number without separators. No two are equal. Empty for blank text.
 */
export function searchedAddresses(text: string): readonly string[] {
  const written = text.trim();
  if (written === '') return [];
  const canonical = CHANNEL_NAMES.map((name) => canonicalAddress(CHANNELS[name].name, written));
  const number = withoutSeparators(written);
  const partOfNumber = /^\+\d+$/.test(number) ? [number] : [];
  return [...new Set([written, written.toLowerCase(), ...canonical.filter((one) => one !== null), ...partOfNumber])];
}

/** Whether an address begins with one of these. */
export const isSearched = (address: string | null, beginnings: readonly string[]): boolean =>
  address !== null && beginnings.some((beginning) => address.startsWith(beginning));
