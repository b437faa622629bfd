/**
 * Seals what stands in a link. The same text always gives the same token, which says nothing to whoever has no key, stays
 * valid for as long as the deployment has its ledger key, and is written in letters, digits, `-` and `_`.
 */
export type LinkTokens = {
  seal(text: string): string;
  /** Null for a token that was cut off, altered, or made by another deployment. */
  open(token: string): string | null;
};
