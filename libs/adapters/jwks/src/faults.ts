import type { TokenFault } from '@carillon/ports';
import type { Refusal } from './verify-token.ts';

/** Texts for the token's sender and for people who look for the reason. They contain nothing of the token. */
const WORDS: Readonly<Record<TokenFault, string>> = {
  malformed:
    'it is no signed JWT: three parts of base64url with dots between them, the first two JSON objects that name nothing twice',
  too_long: 'it is longer than 16 KiB',
  algorithm: 'its algorithm is not one that this provider is configured with',
  critical_header: 'its header has `crit`, and no extension is supported',
  type: 'its header `typ` says that it is for something else',
  unknown_key: 'no key in the key set has its `kid` and fits its algorithm',
  ambiguous_key: 'several keys fit it; it has to name one by `kid`, and each `kid` may be there once',
  unusable_key: 'its key cannot be used: it is too weak, or not of this algorithm',
  signature: 'its signature was not made with this key',
  claim_missing: 'a claim is missing',
  claim_malformed: 'a claim that has to be a number is none',
  issuer: 'its `iss` is not the configured issuer',
  audience: 'its `aud` does not hold the configured audience',
  not_yet_valid: 'it is not valid yet',
  expired: 'it has expired',
  too_old: 'it is older than max_token_age',
};

export function wordsOf({ fault, claim }: Refusal): string {
  const words = WORDS[fault];
  return claim !== null && (fault === 'claim_missing' || fault === 'claim_malformed')
    ? `${words}: \`${claim}\``
    : words;
}
