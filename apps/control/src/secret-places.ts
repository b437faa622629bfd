import { warningIn, type WantedResource, type Warning } from '@carillon/configuration';
import {
  listResources,
  secretsIn,
  variableFor,
  type Configuration,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { SecretPlaces } from '@carillon/ports';
import type { Check } from './ports.ts';

const setIt = (workspace: string, name: string): string =>
  `npx carillon secret set ${name} ${workspace === '' ? '--deployment' : `--workspace ${workspace}`}`;

/** A warning that a workspace may not read a variable of the environment. */
const hiddenSecret = (ref: ResourceRef, path: Warning['path'], name: string): Warning =>
  warningIn(ref, path, {
    code: 'secret_hidden',
    facts: { secret: name, variable: variableFor(ref.workspace, name) ?? '' },
  });

function hiddenText(workspace: string, name: string): string {
  const { message, fix } = hiddenSecret({ kind: 'account', workspace, name: '' }, [], name);
  return `${message}: ${fix}`;
}

/** Describes why a secret has no value, without the value of any variable. */
export async function missingSecret(workspace: string, name: string, secrets: SecretPlaces): Promise<string> {
  const hidden = (await secrets.locate(workspace, name)) === 'hidden';
  if (hidden) return hiddenText(workspace, name);
  return `${name} is neither in the environment nor stored: ${setIt(workspace, name)}`;
}

/**
 * Warns about resources of a folder that name a variable which their workspace may not read. They worked when every
 * workspace could read all variables.
 */
export async function hiddenSecretWarnings(
  resources: readonly WantedResource[],
  secrets: SecretPlaces,
): Promise<readonly Warning[]> {
  const warnings: Warning[] = [];
  for (const { ref, body } of resources) {
    for (const { name, path } of secretsIn(body)) {
      if ((await secrets.locate(ref.workspace, name)) !== 'hidden') continue;
      warnings.push(hiddenSecret(ref, path, name));
    }
  }
  return warnings;
}

/** Returns the same warnings for the published configuration, as checks of the doctor. */
export async function hiddenSecretChecks(
  configuration: Configuration,
  secrets: SecretPlaces,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const kind of ['account', 'integration'] as const) {
    for (const { ref, body } of listResources<'account' | 'integration'>(configuration, kind)) {
      for (const { name } of secretsIn(body)) {
        if ((await secrets.locate(ref.workspace, name)) !== 'hidden') continue;
        const detail = hiddenText(ref.workspace, name);
        checks.push({ step: `${kind} ${ref.workspace}/${ref.name}`, ok: false, detail });
      }
    }
  }
  return checks;
}
