import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, Secrets } from '@carillon/ports';

/** Secrets are read again after this, so that a new one counts soon and a burst of requests reads it once. */
const FRESH_FOR: Duration = 2_000;

/** Resolves secret names of a workspace. A value is read again after two seconds. */
export type FreshSecrets = (workspace: string, name: string) => Promise<string | null>;

export function createFreshSecrets(secrets: Pick<Secrets, 'resolve'>, clock: Clock): FreshSecrets {
  const known = new Map<string, { readonly value: Promise<string | null>; readonly until: Instant }>();

  return (workspace, name) => {
    const key = `${workspace}/${name}`;
    const now = clock.now();
    const found = known.get(key);
    if (found && now < found.until) return found.value;
    const value = secrets.resolve(workspace, name);
    known.set(key, { value, until: now + FRESH_FOR });
    // A failure is not cached, so the next request tries again.
    value.catch(() => known.delete(key));
    return value;
  };
}
