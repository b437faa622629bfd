import type { ProviderVerdict } from '../../src/deliveries/index.ts';

/** Verdicts, each with whether the provider accepted the message. An ambiguous verdict occurs with both. */
export const ANSWERS: readonly (readonly [verdict: ProviderVerdict, accepted: boolean])[] = [
  ['accepted', true],
  ['refused_content', false],
  ['transient', false],
  ['ambiguous', true],
  ['ambiguous', false],
];
