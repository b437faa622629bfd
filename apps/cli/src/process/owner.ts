import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import { ENDPOINTS_FILE, OWNER_TOKEN_FILE } from '../data-files.ts';

/**
 * The management API's token: CARILLON_OWNER_TOKEN, else that of the data folder, made at its first start; mode 0600. Two
 * processes that make it at once end with the same one.
 */
export function ownerToken(
  dataDir: string,
  given: string | undefined,
): { readonly token: string; readonly fresh: boolean } {
  if (given) {
    if (given.length < 32) {
      throw new CarillonError(
        'invalid_configuration',
        'CARILLON_OWNER_TOKEN must have at least 32 characters; make one with: openssl rand -hex 32',
      );
    }
    return { token: given, fresh: false };
  }
  const file = join(dataDir, OWNER_TOKEN_FILE);
  const token = `own_${randomBytes(32).toString('base64url')}`;
  // Of its own name: processes in containers share the folder, and each of them is number 1.
  const whole = `${file}.${randomBytes(6).toString('hex')}.new`;
  if (existsSync(file)) return { token: readFileSync(file, 'utf8').trim(), fresh: false };
  writeFileSync(whole, `${token}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(whole, file);
    return { token, fresh: true };
  } catch {
    return { token: readFileSync(file, 'utf8').trim(), fresh: false };
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
