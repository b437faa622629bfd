import type { FormField } from '../shape-parts.ts';

/** Forms of the keys that Carillon shows to the other side, or the other side to Carillon. */

export const THEIR_KEY: FormField = {
  label: 'Key',
  ending: 'KEY',
  note: 'The key that the partner gave you. Stored as a secret. The draft contains only the name of the secret.',
};
export const THEIR_SECOND_KEY: FormField = {
  label: 'Second key',
  ending: 'KEY_2',
  isRare: true,
  note: 'For a rotation: used when the first key is refused.',
};
export const OUR_KEY: FormField = {
  label: 'Secret',
  ending: 'SECRET',
  isOurs: true,
  note: 'Paste this secret at the platform; it signs in with it.',
};
export const OUR_SECOND_KEY: FormField = {
  label: 'Second key',
  ending: 'KEY_2',
  isOurs: true,
  isRare: true,
  note: 'For a rotation: either key is accepted.',
};
