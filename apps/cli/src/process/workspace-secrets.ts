import type { StartSettings } from '@carillon/configuration';
import { deploymentRef, findResource, secretsIn, type Configuration } from '@carillon/domain/configuration';
import type { Environment } from './environment.ts';

const LISTED = /^(?:[a-z0-9-]+\/)?[A-Z][A-Z0-9_]*$/;

/** Secrets that carillon.yaml names for the start: those of Kafka, the stores and the registry. */
export const ownSecrets = (file: StartSettings): readonly string[] => secretsIn(file).map(({ name }) => name);

/** The operator's list of variables for workspaces. What is the deployment's own is a fault there. */
export function workspaceSecrets(env: Environment, file: StartSettings, faults: string[]): readonly string[] {
  const listed = env['CARILLON_WORKSPACE_SECRETS']?.split(/[\s,]+/).filter(Boolean) ?? file.workspace_secrets ?? [];
  const own = new Set(ownSecrets(file));
  for (const entry of listed) {
    const name = entry.slice(entry.indexOf('/') + 1);
    const where = 'CARILLON_WORKSPACE_SECRETS (workspace_secrets)';
    if (!LISTED.test(entry)) {
      faults.push(`${where}: expected NAME or workspace/NAME, found ${JSON.stringify(entry)}`);
    } else if (own.has(name) || name.startsWith('CARILLON_')) {
      faults.push(`${where}: ${name} is the deployment's own; give workspaces a variable of another name`);
    }
  }
  return listed;
}

/**
 * Returns the secrets that no workspace may read: those for the start, and those of the deployment's accounts in the
 * newest configuration.
 */
export function deploymentSecrets(
  own: readonly string[],
  configuration: () => Configuration,
): () => ReadonlySet<string> {
  return () => {
    const deployment = findResource(configuration(), 'deployment', deploymentRef.workspace, deploymentRef.name);
    return new Set([...own, ...secretsIn(deployment?.body).map(({ name }) => name)]);
  };
}
