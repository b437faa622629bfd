import { z } from 'zod';
import { keys, said, secret, sender, text } from './shape-parts.ts';

/** Who reports what became of a message after the server had taken it, and how we know that it is them. */
export const receiptsShape = z.discriminatedUnion('kind', [
  keys({
    kind: said(z.literal('ses'), { description: 'Amazon SES, through a topic of SNS.' }),
    topic: said(
      z.string().regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, { error: 'the ARN of a topic of SNS' }),
      {
        description:
          'The topic that SES publishes to. Its subscription to the address of this account is confirmed by itself.',
        example: 'arn:aws:sns:eu-central-1:123456789012:carillon',
      },
    ),
    configuration_set: said(
      z
        .string()
        .regex(/^[\w-]{1,64}$/, { error: 'the name of a configuration set' })
        .exactOptional(),
      {
        description: 'The configuration set that publishes events; only these carry what finds the message again.',
        example: 'carillon',
      },
    ),
  }),
  keys({
    kind: said(z.literal('sendgrid'), { description: 'The event webhook of SendGrid, signed.' }),
    public_key: said(
      z.string().regex(/^[A-Za-z0-9+/]{80,200}={0,2}$/, { error: 'the verification key that SendGrid shows' }),
      {
        description: 'The verification key that SendGrid shows where the signature is switched on.',
      },
    ),
  }),
  keys({
    kind: said(z.literal('mailgun'), { description: 'The webhooks of Mailgun.' }),
    signing_key: said(secret, { description: 'Reference to the webhook signing key.' }),
  }),
  keys({
    kind: said(z.literal('postmark'), { description: 'The webhooks of Postmark.' }),
    credentials: said(secret, {
      description: 'Reference to `user:password`, as it stands in the address that Postmark calls.',
    }),
  }),
]);

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
  return_path: said(
    z
      .string()
      .max(253, { error: 'at most 253 characters' })
      .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i, {
        error: 'a domain such as bounces.shop.example.com',
      })
      .exactOptional(),
    {
      description:
        'Domain of the envelope sender, whose mail reaches the bounce listener: each message has an address of its own there, to which reports come back.',
      otherwise: 'the envelope sender is the address of `from`',
      example: 'bounces.shop.example.com',
    },
  ),
  receipts: said(receiptsShape.exactOptional(), {
    description:
      'Who reports what became of messages of this account, at `/receipts/<kind>/<workspace>/<account>` of the gateway.',
  }),
});

export const sandboxAccount = keys({
  kind: said(z.literal('sandbox'), {
    description: 'Keeps messages in the built-in inbox; nothing leaves the machine.',
  }),
  from: said(sender.exactOptional(), { description: 'Sender of messages whose template names none.' }),
});

export const accountShape = z.discriminatedUnion('kind', [smtpAccount, sandboxAccount]);
