import { z } from 'zod';
import { keys, said, secret, sender, slug, text, url } from './shape-parts.ts';
import { DEFAULTS } from './values.ts';

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

const count = (least: number, most: number) => {
  const error = `${least} to ${most}`;
  return z.int().min(least, { error }).max(most, { error });
};

const rate = said(
  keys({
    per_second: said(z.number().min(0.01, { error: '0.01 to 10000' }).max(10_000, { error: '0.01 to 10000' }), {
      description: 'Messages a second, over all processes of the deployment together.',
      example: 10,
    }),
  }).exactOptional(),
  { description: 'No more than the provider takes. What is above it waits its turn.', otherwise: 'no limit of ours' },
);

const elsewhere = said(url.exactOptional(), {
  description:
    'Another address than the provider’s own, for tests and proxies. In a workspace’s own account a private address, `http` and other ports count only where `allowed_private_addresses` of the deployment lists the address.',
});

const domain = z
  .string()
  .max(253, { error: 'at most 253 characters' })
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i, {
    error: 'a domain such as shop.example.com',
  });

/** Text of one line: a name of a server or of a user with a line break in it could become a command. */
const oneLine = (max: number, form: RegExp, words: string) => text(max).regex(form, { error: words });
const HOST = /^[^\s/@\p{Cc}]+$/u;
const USER = /^\P{Cc}+$/u;

const smtpKeys = {
  kind: said(z.literal('smtp'), { description: 'A mail server that takes messages by SMTP.' }),
  host: said(oneLine(253, HOST, 'the name or address of a server, such as smtp.example.com'), {
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
  user: said(oneLine(320, USER, 'a user name, without control characters').exactOptional(), {
    description: 'User name, if the server wants one.',
    example: 'shop',
  }),
  password: said(secret.exactOptional(), { description: 'Reference to the password; never the password itself.' }),
  from: said(sender, {
    description: 'Sender of messages whose template names none.',
    example: 'Shop <shop@example.com>',
  }),
  connections: said(count(1, 100).exactOptional(), {
    description: 'Connections open at once, in each process.',
    default: DEFAULTS.smtp.connections,
  }),
  dkim: said(
    keys({
      domain: said(domain, {
        description: 'Domain that signs; it has to be that of `from`.',
        example: 'shop.example.com',
      }),
      selector: said(
        z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, { error: 'a selector such as k1' }),
        {
          description: 'Names the key: its public half stands in DNS at `<selector>._domainkey.<domain>`.',
          example: 'k1',
        },
      ),
      key: said(secret, { description: 'Reference to the private key: RSA, PEM.' }),
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
  }),
  receipts: said(receiptsShape.exactOptional(), {
    description:
      'Who reports what became of messages of this account, at `/receipts/<kind>/<workspace>/<account>` of the gateway.',
  }),
};

const id = (prefix: string, words: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9A-Za-z]{2,64}$`), { error: `${words}: ${prefix} and letters and digits` });

/** A number, a short code, or a name of letters and digits (alphanumeric sender id). */
const SMS_SENDER = /^(?:\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 _+-]{1,11})$/;

const twilioKeys = {
  kind: said(z.literal('twilio'), { description: 'SMS through Twilio.' }),
  account_sid: said(id('AC', 'the sid of the account'), {
    description: 'Sid of the account.',
    example: 'AC0123456789abcdef0123456789abcdef',
  }),
  auth_token: said(secret, {
    description:
      'Reference to the auth token. It proves what Twilio reports; without `api_key` it is signed in with too.',
  }),
  api_key: said(
    keys({
      sid: said(id('SK', 'the sid of an API key'), { description: 'Sid of the key.' }),
      secret: said(secret, { description: 'Reference to the secret of the key.' }),
    }).exactOptional(),
    { description: 'An API key to sign in with, which can be taken back without a new auth token.' },
  ),
  from: said(
    z
      .string()
      .regex(SMS_SENDER, { error: 'a number such as "+4915112345678", a short code, or a name of at most 11 letters' })
      .exactOptional(),
    {
      description: 'Who sends: a number, a short code or a name that Twilio knows. Either this or `messaging_service`.',
      example: '+4915112345678',
    },
  ),
  messaging_service: said(id('MG', 'the sid of a Messaging Service').exactOptional(), {
    description: 'Sid of a Messaging Service, which picks the number.',
    example: 'MG0123456789abcdef0123456789abcdef',
  }),
  allow: said(
    z
      .array(z.string().regex(/^\+[1-9]\d{0,6}$/, { error: 'the beginning of a number, such as "+49"' }))
      .min(1, { error: 'at least one beginning' })
      .exactOptional(),
    {
      description:
        'Numbers go over this account only where they begin so. Other accounts of the notification are asked for the rest.',
      otherwise: 'any number',
      example: ['+49', '+43'],
    },
  ),
  max_segments: said(count(1, 10).exactOptional(), {
    description: 'A text of more segments is refused; each is paid for.',
    default: DEFAULTS.twilio.max_segments,
  }),
  connections: said(count(1, 100).exactOptional(), {
    description: 'Requests open at once, in each process.',
    default: DEFAULTS.twilio.connections,
  }),
  rate,
  url: elsewhere,
};

const fcmKeys = {
  kind: said(z.literal('fcm'), { description: 'Push messages through Firebase Cloud Messaging.' }),
  credentials: said(secret, {
    description: 'Reference to the key file (JSON) of a service account; the project is the one that it names.',
    example: { secret: 'FCM_SERVICE_ACCOUNT' },
  }),
  requests: said(count(1, 500).exactOptional(), {
    description: 'Requests open at once, in each process; they share one connection.',
    default: DEFAULTS.fcm.requests,
  }),
  rate,
  url: elsewhere,
};

const sandboxKeys = {
  kind: said(z.literal('sandbox'), {
    description: 'Keeps messages in the built-in inbox; nothing leaves the machine.',
  }),
  from: said(sender.exactOptional(), { description: 'Sender of messages whose template names none.' }),
};

export const smtpAccount = keys(smtpKeys);
export const twilioAccount = keys(twilioKeys);
export const fcmAccount = keys(fcmKeys);
export const sandboxAccount = keys(sandboxKeys);

export const accountShape = z.discriminatedUnion('kind', [smtpAccount, twilioAccount, fcmAccount, sandboxAccount]);

const name = said(slug, { description: 'Name of the account in traces, alerts and `account check`.', example: 'main' });
export const namedAccountShape = z.discriminatedUnion('kind', [
  keys({ name, ...smtpKeys }),
  keys({ name, ...twilioKeys }),
  keys({ name, ...fcmKeys }),
  keys({ name, ...sandboxKeys }),
]);

/** One account, or several in order of priority. */
export const accountsShape = z.union([
  accountShape,
  z.array(namedAccountShape).min(1, { error: 'at least one account' }),
]);
