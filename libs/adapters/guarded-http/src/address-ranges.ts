import { CarillonError } from '@carillon/kernel';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;
export type AddressRange = readonly [Address, number];

/** Parses an address. An IPv4 address written as IPv6 becomes IPv4. Null if the text is no address. */
export function readAddress(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

/** Reads ranges such as `10.0.0.0/8`, or single addresses. Throws CarillonError `wrong_usage` that names the first wrong one. */
export function readRanges(texts: readonly string[]): readonly AddressRange[] {
  return texts.map((text) => {
    // The short and octal forms of IPv4 mean something else to whoever reads them.
    if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), 32];
    if (ipaddr.IPv6.isValid(text)) return [ipaddr.parse(text), 128];
    if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)) return ipaddr.parseCIDR(text);
    throw new CarillonError(
      'wrong_usage',
      `CARILLON_ALLOWED_PRIVATE_ADDRESSES (allowed_private_addresses): ${JSON.stringify(text)} is not an address range; ` +
        'write it as 10.0.0.0/8 or fd00::/8, or a single address',
    );
  });
}

export const isListed = (address: Address, ranges: readonly AddressRange[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match([range, bits] as never));

const GLOBAL_IPV6: AddressRange = [ipaddr.parse('2000::'), 3];

/**
 * Public by its number, and yet the machine's own: Azure's agent listens there on every machine (metadata, certificates).
 */
const CLOUD_AGENTS: readonly AddressRange[] = [[ipaddr.parse('168.63.129.16'), 32]];

/**
 * Whether anybody on the internet could connect to it just as well. The list is of what is allowed: whatever new form of
 * a private address comes up (IPv4 within IPv6, translation prefixes) is refused without being known.
 */
export const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  !isListed(address, CLOUD_AGENTS) &&
  (address.kind() === 'ipv4' || isListed(address, [GLOBAL_IPV6]));
