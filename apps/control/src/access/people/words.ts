import { createHash, randomBytes } from 'node:crypto';

/**
 * A word that opens something to whoever has it: 256 bits of chance, so that nobody guesses it and a plain digest of it is enough at
 * rest. The prefix says to people and to scanners what they found.
 */
export const newSecretToken = (prefix: 'svc_' | 'inv_' | 'eml_' | ''): string =>
  `${prefix}${randomBytes(32).toString('base64url')}`;

/** What is kept of a word. */
export const digestOf = (word: string): string => createHash('sha256').update(word).digest('base64url');
