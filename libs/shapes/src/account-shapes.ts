import { z } from 'zod';
import { keys, said, secret, sender, text } from './shape-parts.ts';

export const smtpAccount = keys({
  kind: said(z.literal('smtp'), { description: 'A mail server that takes messages by SMTP.' }),
  host: said(text(253), {
    description:
      'Name of the server. In a workspace’s own account a private address counts only where `allowed_private_addresses` of the deployment lists it.',
    example: 'smtp.example.com',
  }),
  port: said(z.int().min(1, { error: 'a port from 1 to 65535' }).max(65_535, { error: 'a port from 1 to 65535' }), {
    description: 'Port of the server: mostly 587 with `starttls`, 465 with `implicit`.',
    example: 587,
  }),
  tls: said(z.enum(['implicit', 'starttls', 'opportunistic', 'none']).exactOptional(), {
    description:
      '`implicit`: TLS from the first byte. `starttls`: upgrade, or no sending. `opportunistic`: upgrade where offered, by any certificate; refused with a `user`. `none`: clear text.',
    otherwise: '`implicit` on port 465, else `starttls` with a `user` and `opportunistic` without',
    example: 'starttls',
  }),
  user: said(text(320).exactOptional(), { description: 'User name, if the server wants one.', example: 'shop' }),
  password: said(secret.exactOptional(), { description: 'Reference to the password; never the password itself.' }),
  from: said(sender, {
    description: 'Sender of messages whose template names none.',
    example: 'Shop <shop@example.com>',
  }),
  connections: said(z.int().min(1, { error: '1 to 100' }).max(100, { error: '1 to 100' }).exactOptional(), {
    description: 'Connections open at once.',
    example: 5,
  }),
});

export const sandboxAccount = keys({
  kind: said(z.literal('sandbox'), {
    description: 'Keeps messages in the built-in inbox; nothing leaves the machine.',
  }),
  from: said(sender.exactOptional(), { description: 'Sender of messages whose template names none.' }),
});

export const accountShape = z.discriminatedUnion('kind', [smtpAccount, sandboxAccount]);
