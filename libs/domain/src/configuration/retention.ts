import { parseDuration, type Duration } from '@carillon/kernel';
import { deploymentRef, findResource, type Configuration } from './configuration.ts';

/** How long the audit is kept; null: for ever. */
export function auditKeptFor(configuration: Configuration): Duration | null {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const read = parseDuration(deployment?.body.retention?.audit ?? '');
  return read.ok ? read.value : null;
}
