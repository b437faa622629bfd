import { z } from 'zod';
import { between, keys, said, secret, slug, text, url } from './shape-parts.ts';

/** A domain of addresses, as after the @. */
const domain = z
  .string()
  .max(253, { error: 'at most 253 characters' })
  .regex(/^(?=.*\.)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, { error: 'a domain in lower case, such as example.com' });

/** A claim of a provider's answer. */
const claim = z.string().regex(/^[!-~]{1,256}$/, { error: 'the name of a claim, such as groups' });

const roleOfGroup = keys({
  group: said(text(256), { description: 'The group, in the very words of the provider.', example: 'shop-editors' }),
  workspace: said(slug.exactOptional(), { description: 'The workspace in which the role counts.' }),
  role: said(z.enum(['owner', 'editor', 'operator', 'viewer']).exactOptional(), {
    description: 'What members of the group are in the workspace.',
  }),
  deployment_owner: said(z.literal(true).exactOptional(), {
    description: 'In place of workspace and role: members of the group own the whole deployment.',
  }),
}).refine(
  ({ workspace, role, deployment_owner: owner }) =>
    owner ? workspace === undefined && role === undefined : workspace !== undefined && role !== undefined,
  { error: 'workspace and role, or deployment_owner: true' },
);

/** An OpenID provider at which people prove who they are. */
export const identityProviderShape = keys({
  name: said(slug, {
    description: 'Name in URLs: the provider redirects people to `/sign-in/<name>/callback` behind `portal_url`.',
    example: 'company',
  }),
  title: said(text(60).exactOptional(), {
    description: 'Label of the button on the sign-in page.',
    otherwise: 'the name',
    example: 'Company account',
  }),
  issuer: said(url, {
    description:
      'Issuer of the provider, exactly as the provider writes it. Its metadata is read at `/.well-known/openid-configuration` below it. `http` is accepted only for `allowed_private_addresses`.',
    example: 'https://login.example.com',
  }),
  client_id: said(text(256), { description: 'Id of the client that the provider has for Carillon.' }),
  client_secret: said(secret.exactOptional(), {
    description: 'Reference to the secret of the client: one of the deployment. Left out, the client is a public one.',
  }),
  scopes: said(
    z
      .array(z.string().regex(/^[!#-[\]-~]{1,100}$/, { error: 'a scope without spaces' }))
      .max(20, { error: 'at most 20 scopes' })
      .exactOptional(),
    { description: 'Scopes to request besides `openid`.', default: ['email', 'profile'] },
  ),
  allowed_domains: said(z.array(domain).min(1).max(100, { error: 'at most 100 domains' }).exactOptional(), {
    description:
      'Only addresses of these domains may sign in, and they need no invitation. Subdomains are not included.',
    example: ['example.com'],
  }),
  email_is_verified: said(z.literal(true).exactOptional(), {
    description:
      'Take addresses as verified where the provider does not say `email_verified`, as Microsoft Entra ID does not. Only for a provider where people cannot enter an address by themselves.',
  }),
  groups_claim: said(claim.exactOptional(), {
    description: 'The claim in which the provider names groups: a text or a list.',
    default: 'groups',
  }),
  roles: said(z.array(roleOfGroup).max(500, { error: 'at most 500 groups' }).exactOptional(), {
    description:
      'Roles by group. Each sign-in adds them, and the first sign-in without the group removes them. Roles set by hand stay.',
    example: [{ group: 'shop-editors', workspace: 'shop', role: 'editor' }],
  }),
  session: said(between('15m', '30d').exactOptional(), {
    description: 'Time until a person must sign in again, so that the provider decides again.',
    default: '1d',
  }),
});

/** How people sign in to the portal. */
export const signInShape = keys({
  passwords: said(z.boolean().exactOptional(), {
    description: 'Whether people sign in by address and password. With `false`, identity providers and owner links do.',
    default: true,
  }),
  providers: said(z.array(identityProviderShape).max(10, { error: 'at most 10 providers' }).exactOptional(), {
    description: 'OpenID providers, in the order of their buttons.',
  }),
});
