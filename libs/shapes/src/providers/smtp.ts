import { z } from 'zod';
import type { BodyFinding } from '../body-finding.ts';
import { keys, said, secret, sender, text } from '../shape-parts.ts';
import { count, rate, secretField } from './account-keys.ts';
import { defineProvider } from './provider.ts';

/** Reporter of a message's fate after the server accepted it, and how the reports are verified. */
const receiptsShape = z.discriminatedUnion('kind', [
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
      description: 'Reference to `user:password`, as in the URL that Postmark calls.',
    }),
  }),
]);

const domain = z
  .string()
  .max(253, { error: 'at most 253 characters' })
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i, {
    error: 'a domain such as shop.example.com',
  });

/** Text of one line. A line break in a server or user name could become a command. */
const oneLine = (max: number, form: RegExp, words: string) => text(max).regex(form, { error: words });
const HOST = /^[^\s/@\p{Cc}]+$/u;
const USER = /^\P{Cc}+$/u;

/** Connections at the same time, per process. */
const DEFAULT_CONNECTIONS = 5;

const smtpKeys = {
  host: said(oneLine(253, HOST, 'the name or address of a server, such as smtp.example.com'), {
    description:
      'Name of the server. In a workspace’s own account a private address counts only where `allowed_private_addresses` of the deployment lists it.',
    example: 'smtp.example.com',
    form: { label: 'Server' },
  }),
  port: said(z.int().min(1, { error: 'a port from 1 to 65535' }).max(65_535, { error: 'a port from 1 to 65535' }), {
    description: 'Port of the server: mostly 587 with `starttls`, 465 with `implicit`.',
    example: 587,
    form: { label: 'Port', note: '587 with STARTTLS, 465 with TLS from the first byte.' },
  }),
  tls: said(z.enum(['implicit', 'starttls', 'opportunistic', 'none']).exactOptional(), {
    description:
      '`implicit`: TLS from the first byte. `starttls`: upgrade, or no sending. `opportunistic`: upgrade where offered, by any certificate; refused with a `user`. `none`: clear text.',
    otherwise: '`implicit` on port 465, else `starttls` with a `user` and `opportunistic` without',
    example: 'starttls',
    form: {
      label: 'Encryption',
      isRare: true,
      options: {
        '': 'As the port and user say',
        implicit: 'TLS from the first byte',
        starttls: 'STARTTLS, or no sending',
        opportunistic: 'STARTTLS where offered',
        none: 'None: clear text',
      },
    },
  }),
  user: said(oneLine(320, USER, 'a user name, without control characters').exactOptional(), {
    description: 'User name, if the server wants one.',
    example: 'shop',
    form: { label: 'User', placeholder: '', note: 'Leave empty if the server needs none.' },
  }),
  password: said(secret.exactOptional(), {
    description: 'Reference to the password; never the password itself.',
    form: secretField('Password', 'PASSWORD', {
      note: 'Stored as a secret. The draft contains only the name of the secret.',
    }),
  }),
  from: said(sender, {
    description: 'Sender of messages whose template names none.',
    example: 'Shop <shop@example.com>',
    form: { label: 'Sender', note: 'Used when the template sets no sender.' },
  }),
  connections: said(count(1, 100).exactOptional(), {
    description: 'Connections open at once, in each process.',
    default: DEFAULT_CONNECTIONS,
    form: { label: 'Maximum connections', isRare: true },
  }),
  dkim: said(
    keys({
      domain: said(domain, {
        description: 'Domain that signs; it has to be that of `from`.',
        example: 'shop.example.com',
        form: { label: 'DKIM: signing domain', isRare: true },
      }),
      selector: said(
        z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, { error: 'a selector such as k1' }),
        {
          description: 'Names the key: its public half is in DNS at `<selector>._domainkey.<domain>`.',
          example: 'k1',
          form: { label: 'DKIM: selector', isRare: true },
        },
      ),
      key: said(secret, {
        description: 'Reference to the private key: RSA, PEM.',
        form: secretField('DKIM private key', 'DKIM_KEY', {
          isLong: true,
          isRare: true,
          note: 'RSA, PEM. The check shows the record that DNS needs.',
        }),
      }),
    }).exactOptional(),
    {
      description:
        'Signs every message, for a server that does not sign itself. `account check` shows the record that DNS needs.',
    },
  ),
  rate,
  return_path: said(domain.exactOptional(), {
    description:
      'Domain of the envelope sender, whose mail reaches the bounce listener: each message has an address of its own there, to which reports come back.',
    otherwise: 'the envelope sender is the address of `from`',
    example: 'bounces.shop.example.com',
    form: { label: 'Bounce domain', isRare: true },
  }),
  receipts: said(receiptsShape.exactOptional(), {
    description:
      'Who reports what became of messages of this account, at `/receipts/<kind>/<workspace>/<account>` of the gateway.',
  }),
};

const domainOf = (from: string): string =>
  from
    .slice(from.lastIndexOf('@') + 1)
    .replace(/>$/, '')
    .toLowerCase();
const isWithin = (sub: string, parent: string): boolean =>
  sub === parent.toLowerCase() || sub.endsWith(`.${parent.toLowerCase()}`);

export const smtp = defineProvider({
  kind: 'smtp',
  title: 'Email by SMTP',
  summary: 'Any mail server: your own, Amazon SES, SendGrid, Mailgun, Postmark.',
  description: 'A mail server that takes messages by SMTP.',
  channels: ['email'],
  keys: smtpKeys,
  initial: { port: 587 },
  concurrency: ({ connections }) => connections ?? DEFAULT_CONNECTIONS,
  sendingSecrets: ({ password, dkim }) => [password, dkim?.key].filter((reference) => reference !== undefined),
  receiptSources: ['ses', 'sendgrid', 'mailgun', 'postmark'],
  reporter({ receipts }) {
    if (receipts === undefined) return null;
    if (receipts.kind === 'mailgun') return { kind: receipts.kind, secret: receipts.signing_key };
    if (receipts.kind === 'postmark') return { kind: receipts.kind, secret: receipts.credentials };
    return { kind: receipts.kind, secret: null };
  },
  check({ from, dkim, tls, user }) {
    const findings: BodyFinding[] = [];
    if (dkim && !isWithin(domainOf(from), dkim.domain)) {
      findings.push({
        path: ['dkim', 'domain'],
        code: 'dkim_other_domain',
        facts: { dkim: dkim.domain, from: domainOf(from) },
        isWarning: true,
      });
    }
    if (tls === 'opportunistic' && user !== undefined) {
      findings.push({
        path: ['tls'],
        code: 'password_unprotected',
        facts: {},
      });
    }
    return findings;
  },
});
