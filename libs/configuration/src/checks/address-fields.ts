import type { AddressKind } from '@carillon/domain/channels';

/** Names of fields that say which kind of address they have. */
const NAMES: { readonly [Kind in AddressKind]: RegExp } = {
  email: /e-?mail/i,
  phone: /phone|mobile|msisdn/i,
  token: /token/i,
};

/**
 * Returns the kind of address that a field has by its name if that is another kind than the expected one, else null. Expressions other
 * than a field of `event` or `item` are not judged.
 */
export function otherAddressKind(expected: AddressKind, expression: string): AddressKind | null {
  const name = /^(?:event|item)(?:\.\w+)*\.(\w+)$/.exec(expression.trim())?.[1];
  if (name === undefined || NAMES[expected].test(name)) return null;
  return (Object.keys(NAMES) as AddressKind[]).find((kind) => NAMES[kind].test(name)) ?? null;
}
