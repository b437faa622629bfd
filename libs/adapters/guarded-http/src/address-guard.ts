import { err, ok, type Result } from '@carillon/kernel';
import type { AddressGuard, GuardedAddress, OutboundFailure } from '@carillon/ports';
import { isListed, isPublic, readAddress, readRanges } from './address-ranges.ts';
import { createNameResolver, type ResolveName } from './name-resolver.ts';

export type AddressGuardOptions = {
  /** Ranges in which private addresses are allowed (CARILLON_ALLOWED_PRIVATE_ADDRESSES): the operator's word, never a tenant's. */
  readonly allowed: readonly string[];
  /** Left out: by the machine's hosts file and name servers. */
  readonly resolveName?: ResolveName;
};

export const REFUSED: OutboundFailure = {
  reason: 'refused_address',
  detail: 'this address is not one that Carillon may connect to; the operator of the deployment can allow private ones',
};

/**
 * Equal for an unknown name and for a name with only forbidden addresses, because the difference would reveal names of
 * the deployment's own network.
 */
const NO_ADDRESS: OutboundFailure = {
  reason: 'unresolved',
  detail:
    'the name of the host leads to no address that Carillon may connect to; ' +
    'where it is a private one, the operator of the deployment can allow it',
};

/** Throws CarillonError `wrong_usage` where a range cannot be read. */
export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const ranges = readRanges(options.allowed);
  const resolveName = options.resolveName ?? createNameResolver();
  /** Many calls to one host ask once. */
  const asking = new Map<string, ReturnType<ResolveName>>();

  function classify(text: string): GuardedAddress | null {
    const address = readAddress(text);
    if (!address) return null;
    const listed = isListed(address, ranges);
    const onInternet = isPublic(address);
    if (!listed && !onInternet) return null;
    return { address: address.toString(), family: address.kind() === 'ipv4' ? 4 : 6, listed, isPublic: onInternet };
  }

  function ask(host: string): ReturnType<ResolveName> {
    const known = asking.get(host);
    if (known) return known;
    const asked = resolveName(host).finally(() => asking.delete(host));
    asking.set(host, asked);
    return asked;
  }

  return {
    async resolve(host): Promise<Result<readonly GuardedAddress[], OutboundFailure>> {
      const bare = host.replace(/^\[(.*)\]$/, '$1');
      const isName = readAddress(bare) === null;
      const found = isName ? await ask(bare).catch(() => []) : [{ address: bare }];
      const judged = found.map(({ address }) => classify(address));
      const allowed = judged.filter((one) => one !== null);
      if (allowed.length > 0 && allowed.length === judged.length) return ok(allowed);
      return err(isName ? NO_ADDRESS : REFUSED);
    },
  };
}
