const LOOPBACK_RANGES = '["127.0.0.1", "::1"]';

/**
 * Returns the line of carillon.yaml that allows a host which the address guard refuses. A name may lead to no address or to a
 * refused address; the guard keeps which, so the line then has a place for the address.
 */
export function allowAddress(host: string, isName: boolean): { readonly fix: string; readonly detail: string | null } {
  const lineFor = (ranges: string): string => `allowed_private_addresses: ${ranges}`;
  if (host === 'localhost') return { fix: lineFor(LOOPBACK_RANGES), detail: null };
  if (!isName) return { fix: lineFor(`["${host}"]`), detail: null };
  return {
    fix: lineFor('["ADDRESS"]'),
    detail:
      'the host name has no address, or an address that is not allowed: replace ADDRESS by the address of the host',
  };
}
