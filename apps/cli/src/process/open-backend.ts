import type { Backend, BackendOptions } from './backend.ts';
import { openEmbeddedBackend } from './embedded-backend.ts';

/** Opens the backend that the settings name. What speaks to a cluster is loaded only for one: it is a third of all code. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const { cluster } = options.settings;
  if (!cluster) return openEmbeddedBackend(options);
  const { openClusterBackend } = await import('./cluster-backend.ts');
  return openClusterBackend(cluster, options);
}
