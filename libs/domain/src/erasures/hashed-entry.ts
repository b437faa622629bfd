import { ID_PREFIXES } from '@carillon/kernel';
import type { ConsentEntry } from '../consent/consents.ts';

/** Returns a choice under the keyed hash of its person. The id changes too, because it is a hash of the name without a key. */
export const hashedEntry = (entry: ConsentEntry, hashedNameOf: (text: string) => string): ConsentEntry => ({
  ...entry,
  id: ID_PREFIXES.consent + hashedNameOf(entry.id).slice(-26),
  person: hashedNameOf(entry.person),
});
