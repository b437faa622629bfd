import type { ConfigurationStore, Secrets } from '@carillon/ports';
import type { Sealer } from './sealer.ts';

/**
 * The environment first, then what was stored sealed. Variables named CARILLON_… are the deployment's own (its master
 * key is one) and are never given out under a tenant's reference; an empty variable counts as not set.
 */
export function createSecrets(
  store: Pick<ConfigurationStore, 'secret'>,
  sealer: Sealer,
  env: Readonly<Record<string, string | undefined>>,
): Secrets {
  return {
    async resolve(workspace, name) {
      const given = name.startsWith('CARILLON_') || !Object.hasOwn(env, name) ? undefined : env[name];
      if (given) return given;
      const stored = await store.secret(workspace, name);
      return stored ? sealer.open(workspace, name, stored.sealed) : null;
    },
  };
}
