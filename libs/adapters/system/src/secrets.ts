import { variableFor } from '@carillon/domain/configuration';
import type { SecretPlaces, SecretStore, Secrets } from '@carillon/ports';
import type { SealedValues } from './secret-vault.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Which variables of the environment workspaces read besides those that are named for them. */
export type SecretRules = {
  /** `NAME` for every workspace, `workspace/NAME` for one. */
  readonly listed: readonly string[];
  /** Names that the deployment itself uses, by its file: no workspace reads these, listed or not. */
  readonly own: () => ReadonlySet<string>;
};

/**
 * The environment first, then what was stored sealed. A workspace reads a variable that is named for it or listed by the
 * operator, the deployment's own accounts (workspace '') any. Variables named CARILLON_… are never given out under their
 * own name: the master key is one. An empty variable counts as not set.
 */
export function createSecrets(
  store: Pick<SecretStore, 'secret'>,
  values: Pick<SealedValues, 'open'>,
  env: Environment,
  rules: SecretRules,
): Secrets & SecretPlaces {
  const listed = new Set(rules.listed);
  const variable = (name: string): string | undefined =>
    Object.hasOwn(env, name) ? env[name] || undefined : undefined;
  const plain = (name: string): string | undefined => (name.startsWith('CARILLON_') ? undefined : variable(name));

  function given(workspace: string, name: string): string | undefined {
    if (workspace === '') return plain(name);
    const named = variableFor(workspace, name);
    const own = named === null ? undefined : variable(named);
    if (own !== undefined) return own;
    const allowed = listed.has(name) || listed.has(`${workspace}/${name}`);
    return allowed && !rules.own().has(name) ? plain(name) : undefined;
  }

  return {
    async resolve(workspace, name) {
      const value = given(workspace, name);
      if (value !== undefined) return value;
      const stored = await store.secret(workspace, name);
      return stored ? values.open(stored) : null;
    },
    async locate(workspace, name) {
      if (given(workspace, name) !== undefined) return 'environment';
      if (await store.secret(workspace, name)) return 'stored';
      return plain(name) === undefined ? 'nowhere' : 'hidden';
    },
  };
}
