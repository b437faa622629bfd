import type { DeploymentBody } from '@carillon/shapes';
import { deploymentRef, findResource, type Configuration } from './configuration.ts';

type Providers = NonNullable<NonNullable<DeploymentBody['sign_in']>['providers']>;

/** How people sign in: by address and password unless the deployment says otherwise, and at these providers. */
export function signInOf(configuration: Configuration): { readonly passwords: boolean; readonly providers: Providers } {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const { passwords = true, providers = [] } = deployment?.body.sign_in ?? {};
  return { passwords, providers };
}
