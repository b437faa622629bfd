export { createIdentityProviders } from './identity-providers.ts';
