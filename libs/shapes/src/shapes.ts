import { z } from 'zod';
import { accountShape, accountsShape } from './account-shapes.ts';
import { integrationShape } from './integrations/index.ts';
import { notificationShape } from './notification-shape.ts';
import { retentionShape } from './retention-shape.ts';
import { jwtProviderShape } from './security-shapes.ts';
import { keys, publicOrigin, publicUrl, said } from './shape-parts.ts';
import { signInShape } from './sign-in-shape.ts';
import { startKeys } from './start-shape.ts';
import { streamShape } from './stream-shape.ts';
import {
  emailHead,
  emailVariantHead,
  layoutShape,
  partialShape,
  pushHead,
  pushVariantShape,
  templateShape,
} from './template-shape.ts';
import { workspaceShape } from './workspace-shape.ts';

/**
 * Shapes of all configuration resources, with the texts for the reference and the schemas of editors. Messages of
 * formats say what is expected, and readers of input build sentences from them.
 */

/** The part of carillon.yaml that `apply` puts into force; the rest is read when a process starts. */
const deploymentKeys = {
  accounts: said(
    keys({
      email: said(accountsShape.exactOptional(), {
        description:
          'Account of notifications that name none, or a list of named accounts; if one is suspended, the next is used. Without it, the sandbox.',
      }),
      sms: said(accountsShape.exactOptional(), { description: 'The same for SMS.' }),
      push: said(accountsShape.exactOptional(), { description: 'The same for push messages.' }),
    }).exactOptional(),
    { description: 'Default provider accounts by channel.' },
  ),
  public_url: said(publicUrl.exactOptional(), {
    description: 'Public address of the gateway: https, or http on this machine. Providers report to it and sign it.',
    otherwise: 'an account has no callback address',
    example: 'https://notify.example.com',
  }),
  portal_url: said(publicOrigin.exactOptional(), {
    description:
      'Address of the portal: https, or http on this machine, without a path. Invitations and identity providers use it.',
    otherwise: 'no such link is made',
    example: 'https://carillon.example.com',
  }),
  sign_in: said(signInShape.exactOptional(), {
    description: 'How people sign in to the portal. A link of `carillon owner-link` signs in always.',
    otherwise: 'by address and password',
  }),
  retention: said(retentionShape.exactOptional(), {
    description: 'How long records are kept, by topic: days, or `forever`. `config` and `consents` always stay.',
  }),
};

/** Made by `api-key create`, never written in a file. */
export const apiKeyShape = keys({
  key_id: z.string().meta({ description: 'The public 8 characters of `cln_<id>_<secret>_<checksum>`.' }),
  digest: z.string().meta({ description: 'HMAC-SHA-256 of the secret under the pepper of the deployment, hex.' }),
  created_at: z.string().meta({ description: 'RFC 3339, UTC.' }),
  expires_at: z.string().meta({ description: 'RFC 3339, UTC. Without it the key does not expire.' }).exactOptional(),
});

/** One shape for each kind of resource: the only declaration of its keys. */
export const RESOURCE_SHAPES = {
  deployment: keys(deploymentKeys),
  workspace: workspaceShape,
  stream: streamShape,
  notification: notificationShape,
  template: templateShape,
  layout: layoutShape,
  partial: partialShape,
  account: accountShape,
  integration: integrationShape,
  api_key: apiKeyShape,
  jwt_provider: jwtProviderShape,
} as const;

/** Kinds of YAML files in the folder. */
export const FILE_SHAPES = {
  deployment: keys({ ...startKeys, ...deploymentKeys }),
  workspace: workspaceShape,
  stream: streamShape,
  notification: notificationShape,
  'email-template': keys(emailHead),
  'email-variant': keys(emailVariantHead),
  'push-template': keys(pushHead),
  'push-variant': pushVariantShape,
  account: accountShape,
  'jwt-provider': jwtProviderShape,
  integration: integrationShape,
} as const;
export type FileKind = keyof typeof FILE_SHAPES;
