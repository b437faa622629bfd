import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENDPOINTS_FILE, OWNER_TOKEN_FILE } from '../data-files.ts';

/** The management API's token of this data folder, made at its first start; mode 0600. */
export function ownerToken(dataDir: string): { readonly token: string; readonly fresh: boolean } {
  const file = join(dataDir, OWNER_TOKEN_FILE);
  if (existsSync(file)) return { token: readFileSync(file, 'utf8').trim(), fresh: false };
  const token = `own_${randomBytes(32).toString('base64url')}`;
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, fresh: true };
}

/** A word that opens one session, for the link that the first start prints. */
export const welcomeWord = (): string => randomBytes(18).toString('base64url');

/** Tells the CLI on the same machine where this process listens. */
export function leaveEndpoints(
  dataDir: string,
  endpoints: { readonly control: string; readonly gateway: string },
): void {
  writeFileSync(join(dataDir, ENDPOINTS_FILE), `${JSON.stringify({ ...endpoints, pid: process.pid })}\n`, {
    mode: 0o600,
  });
}
