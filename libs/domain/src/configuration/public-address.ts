import { deploymentRef, findResource, type Configuration } from './configuration.ts';

/** How the world reaches the gateway, without a slash at the end; null where the deployment does not say. */
export function publicUrlOf(configuration: Configuration): string | null {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  return deployment?.body.public_url?.replace(/\/+$/, '') ?? null;
}

/** How people reach the portal, without a slash at the end; null where the deployment does not say: no link to it leaves the machine. */
export function portalUrlOf(configuration: Configuration): string | null {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  return deployment?.body.portal_url?.replace(/\/+$/, '') ?? null;
}
