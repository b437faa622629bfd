import type { ProviderVerdict } from '../../src/deliveries/index.ts';

/** What a provider may say, and whether it took the message: of a doubt nobody knows. */
export const ANSWERS: readonly (readonly [verdict: ProviderVerdict, accepted: boolean])[] = [
  ['accepted', true],
  ['refused_content', false],
  ['transient', false],
  ['ambiguous', true],
  ['ambiguous', false],
];
