import type { Duration } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import type { Principal } from '../principal.ts';
import { hasExpired, tokenMay } from './rights.ts';
import { digestOf } from './secret-tokens.ts';

/** Precision of a token's last use. */
const TOUCHED_EVERY: Duration = 60_000;

type Ports = Pick<ControlPorts, 'people' | 'clock' | 'ids'>;

/** Returns the principal of a service token. Null if it is unknown, removed or expired. */
export async function tokenPrincipal(token: string, ports: Ports): Promise<Principal | null> {
  const { people, clock } = ports;
  const found = await people.findByKey('token', digestOf(token));
  const now = clock.now();
  if (!found || hasExpired(found, now)) return null;
  const { usedAt } = found.body;
  if (usedAt === null || Math.abs(now - usedAt) >= TOUCHED_EVERY) {
    // A token removed meanwhile stays removed.
    await people.replace({ ...found, version: found.version + 1, body: { ...found.body, usedAt: now } });
  }
  return {
    kind: 'token',
    actor: { kind: 'token', id: found.id },
    name: found.id,
    may: await tokenMay(found, ports),
    expiresAt: found.body.expiresAt,
  };
}
