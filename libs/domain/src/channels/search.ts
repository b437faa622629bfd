import { CHANNEL_NAMES, CHANNELS, canonicalAddress } from './channel.ts';

/**
 * How addresses may begin that somebody looks for who wrote this: as it stands, in lower case, and in the one form of each channel
 * whose address it is. No two are equal; empty for text without any letter.
 */
export function searchedAddresses(text: string): readonly string[] {
  const written = text.trim();
  if (written === '') return [];
  const canonical = CHANNEL_NAMES.map((name) => canonicalAddress(CHANNELS[name].name, written));
  return [...new Set([written, written.toLowerCase(), ...canonical.filter((one) => one !== null)])];
}

/** Whether an address begins with one of these. */
export const isSearched = (address: string | null, beginnings: readonly string[]): boolean =>
  address !== null && beginnings.some((beginning) => address.startsWith(beginning));
