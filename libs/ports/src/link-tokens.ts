/**
 * Encrypts the contents of links. The same text always gives the same token. A token reveals nothing without the key,
 * stays valid while the deployment keeps its ledger key, and has only letters, digits, `-` and `_`.
 */
export type LinkTokens = {
  seal(text: string): string;
  /** Null for a token that was cut off, altered, or made by another deployment. */
  open(token: string): string | null;
};
