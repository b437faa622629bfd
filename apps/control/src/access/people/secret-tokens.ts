import { createHash, randomBytes } from 'node:crypto';

/**
 * Returns a random secret token of 256 bits, which cannot be guessed, so a plain digest is enough at rest. The prefix
 * identifies its purpose to people and secret scanners.
 */
export const newSecretToken = (prefix: 'svc_' | 'inv_' | 'eml_' | ''): string =>
  `${prefix}${randomBytes(32).toString('base64url')}`;

/** Returns the digest under which a token is stored. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
