import type { Duration } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { SCOPE_PERMISSIONS } from '../permission.ts';
import type { Principal } from '../principal.ts';
import { digestOf } from './words.ts';

/** When a token was last used is known this well. */
const TOUCHED_EVERY: Duration = 60_000;

/** Whoever shows this service token; null where it is none, was removed or has expired. */
export async function tokenPrincipal(
  word: string,
  { people, clock }: Pick<ControlPorts, 'people' | 'clock'>,
): Promise<Principal | null> {
  const found = await people.findByKey('token', digestOf(word));
  const now = clock.now();
  if (!found || (found.body.expiresAt !== null && now >= found.body.expiresAt)) return null;
  const { scopes, workspaces, usedAt } = found.body;
  if (usedAt === null || Math.abs(now - usedAt) >= TOUCHED_EVERY) {
    // One that was removed meanwhile stays removed.
    await people.replace({ ...found, version: found.version + 1, body: { ...found.body, usedAt: now } });
  }
  const permissions = new Set(scopes.flatMap((scope) => SCOPE_PERMISSIONS[scope]));
  return {
    kind: 'token',
    actor: { kind: 'token', id: found.id },
    name: found.id,
    may: (permission, workspace) =>
      permissions.has(permission) && (workspaces === null || (workspace !== null && workspaces.includes(workspace))),
  };
}
