import { systemClock } from '@carillon/adapter-system';
import type { Clock } from '@carillon/ports';
import { reportFailure } from '../output.ts';
import type { Backend, BackendOptions } from '../process/backend.ts';
import { type Keys, openKeys } from '../process/deployment-keys.ts';
import { openBackend } from '../process/open-backend.ts';
import type { Environment, ProcessSettings } from '../process/settings.ts';

export type Deployment = { readonly backend: Backend; readonly keys: Keys; readonly clock: Clock };

/** Opens log, stores and keys without starting a role, and closes them when the work is done. */
export async function withDeployment<T>(
  settings: ProcessSettings,
  env: Environment,
  work: (deployment: Deployment) => Promise<T>,
  holder = 'carillon move',
): Promise<T> {
  const clock = systemClock;
  const options: BackendOptions = {
    settings,
    clock,
    holder,
    kafkaSaid: () => undefined,
    fatal: (error) => process.exit(reportFailure(error, false)),
  };
  const backend = await openBackend(options);
  try {
    return await work({ backend, keys: await openKeys(settings, env, backend), clock });
  } finally {
    await backend.close();
  }
}
