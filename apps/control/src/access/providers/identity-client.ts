import { portalUrlOf, signInOf, type IdentityProviderBody } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import type { IdentityClient } from '@carillon/ports';
import { checkStep } from '../../checks.ts';
import type { Check, ControlPorts } from '../../ports.ts';

type Ports = Pick<ControlPorts, 'configuration' | 'secrets' | 'identityProviders'>;

/** Returns a client of a configured provider. Throws if the configuration is incomplete. */
export async function identityClient(provider: IdentityProviderBody, ports: Ports): Promise<IdentityClient> {
  const portal = portalUrlOf(ports.configuration.current());
  if (portal === null)
    throw new CarillonError('not_found', 'portal_url is not set, so the provider cannot send you back to the portal');
  const { client_secret: reference, scopes = ['email', 'profile'] } = provider;
  const clientSecret = reference === undefined ? null : await ports.secrets.resolve('', reference.secret);
  if (reference !== undefined && clientSecret === null) {
    const fix = `npx carillon secret set ${reference.secret} sets it`;
    throw new CarillonError('secret_missing', `the secret of the provider ${provider.name} is not set; ${fix}`);
  }
  return {
    issuer: provider.issuer,
    clientId: provider.client_id,
    clientSecret,
    scopes,
    redirectUri: `${portal}/sign-in/${provider.name}/callback`,
  };
}

/**
 * Returns the doctor's checks of all providers: whether people could be redirected there now. No person and no secret
 * is sent.
 */
export const providerChecks = (ports: Ports): Promise<readonly Check[]> =>
  Promise.all(
    signInOf(ports.configuration.current()).providers.map((provider) =>
      checkStep(`sign-in at ${provider.name}`, async () => {
        const client = await identityClient(provider, ports);
        const begun = await ports.identityProviders.begin(client);
        if (!begun.ok) throw new Error(`${provider.issuer}: ${begun.error.detail}`);
        return `people go to ${new URL(begun.value.location).origin} and come back to ${client.redirectUri}`;
      }),
    ),
  );
