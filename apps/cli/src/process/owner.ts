import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import { ENDPOINTS_FILE, OWNER_TOKEN_FILE } from '../data-files.ts';

/** Token files created by this process but not announced yet, so that a retried start announces them. */
const untold = new Set<string>();

export type Owner = {
  /** The management API's token. */
  readonly token: string;
  /**
   * Returns the token of the first owner's sign-in link, once and only in the process that created the owner token.
   * Null otherwise.
   */
  greet(newLinkWord: () => Promise<string>): Promise<string | null>;
};

/**
 * The management API's token: CARILLON_OWNER_TOKEN, else that of the data folder, made at its first start; mode 0600. Two
 * processes that make it at once end with the same one.
 */
export function ownerToken(dataDir: string, given: string | undefined): Owner {
  if (given) {
    if (given.length < 32) {
      throw new CarillonError(
        'invalid_configuration',
        'CARILLON_OWNER_TOKEN must have at least 32 characters; make one with: openssl rand -hex 32',
      );
    }
    return { token: given, greet: async () => null };
  }
  const file = resolve(dataDir, OWNER_TOKEN_FILE);
  if (!existsSync(file) && makeToken(file)) untold.add(file);
  return {
    token: readFileSync(file, 'utf8').trim(),
    async greet(newLinkWord) {
      if (!untold.has(file)) return null;
      const word = await newLinkWord();
      untold.delete(file);
      return word;
    },
  };
}

/** False where another process was faster. */
function makeToken(file: string): boolean {
  // A random name: processes in containers share the folder, and each of them is number 1.
  const whole = `${file}.${randomBytes(6).toString('hex')}.new`;
  writeFileSync(whole, `own_${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(whole, file);
    return true;
  } catch {
    return false;
  } finally {
    unlinkSync(whole);
  }
}

/** Tells the CLI on the same machine where this process listens. */
export function leaveEndpoints(
  dataDir: string,
  endpoints: { readonly control: string; readonly gateway: string },
): void {
  writeFileSync(join(dataDir, ENDPOINTS_FILE), `${JSON.stringify({ ...endpoints, pid: process.pid })}\n`, {
    mode: 0o600,
  });
}
