import type { WantedResource, Warning } from '@carillon/configuration';
import { listResources, secretsIn, variableFor, type Configuration } from '@carillon/domain/configuration';
import type { SecretPlaces } from '@carillon/ports';
import type { Check } from './ports.ts';

const setIt = (workspace: string, name: string): string =>
  `npx carillon secret set ${name} ${workspace === '' ? '--deployment' : `--workspace ${workspace}`}`;

const HIDDEN = 'is in the environment, but not for this workspace';

function wayOut(workspace: string, name: string): string {
  const named = variableFor(workspace, name);
  const rename = named === null ? '' : `call the variable ${named}, `;
  return `${rename}list ${name} in CARILLON_WORKSPACE_SECRETS, or run: ${setIt(workspace, name)}`;
}

/** In words why a secret has no value; never the value of a variable. */
export async function missingSecret(workspace: string, name: string, secrets: SecretPlaces): Promise<string> {
  const hidden = (await secrets.locate(workspace, name)) === 'hidden';
  if (hidden) return `${name} ${HIDDEN}: ${wayOut(workspace, name)}`;
  return `${name} is neither in the environment nor stored: ${setIt(workspace, name)}`;
}

/** What of a folder names a variable that its workspace does not read: it worked when every workspace read all of them. */
export async function hiddenSecretWarnings(
  resources: readonly WantedResource[],
  secrets: SecretPlaces,
): Promise<readonly Warning[]> {
  const warnings: Warning[] = [];
  for (const { ref, body } of resources) {
    for (const { name, path } of secretsIn(body)) {
      if ((await secrets.locate(ref.workspace, name)) !== 'hidden') continue;
      warnings.push({
        code: 'secret_hidden',
        facts: { secret: name },
        ref,
        path,
        spot: 'value',
        message: `${name} ${HIDDEN}, so this cannot be used`,
        fix: wayOut(ref.workspace, name),
      });
    }
  }
  return warnings;
}

/** The same of what is applied already, for the doctor. */
export async function hiddenSecretChecks(
  configuration: Configuration,
  secrets: SecretPlaces,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const kind of ['account', 'integration'] as const) {
    for (const { ref, body } of listResources<'account' | 'integration'>(configuration, kind)) {
      for (const { name } of secretsIn(body)) {
        if ((await secrets.locate(ref.workspace, name)) !== 'hidden') continue;
        const detail = `${name} ${HIDDEN}: ${wayOut(ref.workspace, name)}`;
        checks.push({ step: `${kind} ${ref.workspace}/${ref.name}`, ok: false, detail });
      }
    }
  }
  return checks;
}
