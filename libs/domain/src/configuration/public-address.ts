import { deploymentRef, findResource, type Configuration } from './configuration.ts';

/** How the world reaches the gateway, without a slash at the end; null where the deployment does not say. */
export function publicUrlOf(configuration: Configuration): string | null {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  return deployment?.body.public_url?.replace(/\/+$/, '') ?? null;
}

/**
 * Returns the URL of the portal for people, without trailing slash. Null if the deployment sets none; no mail then
 * links to the portal.
 */
export function portalUrlOf(configuration: Configuration): string | null {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  return deployment?.body.portal_url?.replace(/\/+$/, '') ?? null;
}
