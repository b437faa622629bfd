import type { SeenField } from './completion.ts';

export type AddressKey = 'email' | 'phone' | 'token';

const KINDS: Readonly<Record<AddressKey, string>> = {
  email: 'an email address',
  phone: 'a phone number',
  token: 'a device token',
};
const FITS: Readonly<Record<AddressKey, RegExp>> = {
  email: /^\S+@\S+$/,
  phone: /^\+?[\d\s()./-]{5,}$/,
  token: /^[^\s@]{20,}$/,
};
/** Names of fields that say which address is in them. */
const NAMES: Readonly<Record<AddressKey, RegExp>> = {
  email: /e-?mail/i,
  phone: /phone|mobile|msisdn/i,
  token: /token/i,
};

/** The text of a sample, which is the beginning of a value as JSON. Null: it is no text or number. */
const textOfSample = (sample: string): string | null =>
  /^-?\d/.test(sample) ? sample : sample.startsWith('"') ? sample.replaceAll(/^"|"$/g, '') : null;

/**
 * Returns a warning if a field of the event cannot hold an address of this kind, else null. The newest value decides; of a field that no
 * event has had yet, its name. Expressions other than a field are not judged.
 */
export function addressWarning(key: AddressKey, expression: string, seen: readonly SeenField[]): string | null {
  const path = /^event\.([\w.]+)$/.exec(expression.trim())?.[1];
  if (path === undefined) return null;
  const sample = seen.find((field) => field.path === path)?.sample ?? null;
  if (sample !== null) {
    const text = textOfSample(sample);
    if (text !== null && FITS[key].test(text)) return null;
    return `In the newest event, event.${path} is ${sample}, which is not ${KINDS[key]}.`;
  }
  const name = path.split('.').at(-1) ?? '';
  const other = (Object.keys(NAMES) as AddressKey[]).find((kind) => kind !== key && NAMES[kind].test(name));
  if (other === undefined || NAMES[key].test(name)) return null;
  return `event.${path} looks like ${KINDS[other]}, and ${KINDS[key]} is needed here.`;
}
