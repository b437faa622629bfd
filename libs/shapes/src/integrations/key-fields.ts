import type { FormField } from '../shape-parts.ts';

/** Forms of the keys that Carillon shows to the other side, or the other side to Carillon. */

export const THEIR_KEY: FormField = {
  label: 'Key',
  ending: 'KEY',
  note: 'The key that the other side gave you. It is kept as a secret; the draft holds its name alone.',
};
export const THEIR_SECOND_KEY: FormField = {
  label: 'Second key',
  ending: 'KEY_2',
  isRare: true,
  note: 'While keys are rotated: used where the first one is refused.',
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
  note: 'While keys are rotated: either of the two is taken.',
};
