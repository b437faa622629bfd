import { isId } from '@carillon/kernel';
import { z } from 'zod';
import { jwtProviderShape, security } from './security-shapes.ts';
import { integrationShape } from './integration-shape.ts';
import { recipients } from './recipients-shape.ts';
import { duration, expression, keys, said, secret, sender, slug, text } from './shape-parts.ts';
import { startKeys } from './start-shape.ts';

/**
 * The shape of every configuration file, with the words that the reference and the editors' schemas are made from.
 * Messages of formats say what is expected; `mistakes.ts` puts them into sentences.
 */

const origin = z.string().regex(/^https?:\/\/[^/\s]+$/, { error: 'an origin such as https://app.example.com' });
const streamSettings = {
  cors_origins: said(z.array(origin).exactOptional(), {
    description: 'Origins of web pages that may send events from a browser. None unless named.',
    default: [],
    example: ['https://app.example.com'],
  }),
  rate: said(
    keys({
      per_second: said(z.number().positive({ error: 'a number above 0' }), {
        description: 'Events per second.',
        example: 100,
      }),
      burst: said(z.int().positive({ error: 'a whole number above 0' }).exactOptional(), {
        description: 'Events that may come at once; left out, as many as `per_second`.',
        example: 200,
      }),
    }).exactOptional(),
    { description: 'Limit of events; what is over it is answered with 429. No limit unless set.' },
  ),
};

const smtpAccount = keys({
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
      '`implicit`: TLS from the first byte. `starttls`: upgrade, or no sending. `opportunistic`: upgrade where offered. `none`: clear text.',
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

const sandboxAccount = keys({
  kind: said(z.literal('sandbox'), {
    description: 'Keeps messages in the built-in inbox; nothing leaves the machine.',
  }),
  from: said(sender.exactOptional(), { description: 'Sender of messages whose template names none.' }),
});

export const accountShape = z.discriminatedUnion('kind', [smtpAccount, sandboxAccount]);

export const deploymentShape = keys({
  ...startKeys,
  accounts: said(
    keys({
      email: said(accountShape.exactOptional(), {
        description: 'Account of all workspaces that have none of their own. Without it, the sandbox.',
      }),
    }).exactOptional(),
    { description: 'Default provider accounts by channel.' },
  ),
});

const timeZone = z.string().refine(isTimeZone, { error: 'a time zone such as Europe/Berlin' });
const locale = z.string().refine(isLocale, { error: 'a language tag such as en or de-AT' });

export const workspaceShape = keys({
  name: said(text(200).exactOptional(), {
    description: 'Name for people.',
    otherwise: 'the folder’s name',
    example: 'Shop',
  }),
  time_zone: said(timeZone.exactOptional(), {
    description: 'Time zone of people who have none of their own.',
    default: 'UTC',
    example: 'Europe/Berlin',
  }),
  locale: said(locale.exactOptional(), {
    description: 'Language of people who have none of their own.',
    default: 'en',
    example: 'en',
  }),
});

export const streamShape = keys({
  key: said(expression().exactOptional(), {
    description:
      'Path of the entity that an event is about. Events of one entity are judged in order; an event without it is refused. Fixed at creation.',
    example: 'event.order_id',
  }),
  time: said(expression().exactOptional(), {
    description: 'Path of the event’s own time (RFC 3339). Left out, the time of arrival counts. Fixed at creation.',
    example: 'event.updated_at',
  }),
  format: said(z.literal('json').exactOptional(), { description: 'What the events are.', default: 'json' }),
  security: said(security, { description: 'Who may send events here.' }),
  ...streamSettings,
});

const EVENT_PATH = /^[a-z0-9-]+\/[a-z0-9-]+\.[a-z0-9-]+$/;

const rule = keys({
  id: said(
    z
      .string()
      .refine((id) => isId('rule', id), { error: 'an id as export writes it: rul_ and 26 characters' })
      .exactOptional(),
    {
      description: 'Given at creation, written by `export`. What was counted is counted by it, so a rename keeps it.',
    },
  ),
  path: said(z.string().regex(EVENT_PATH, { error: 'workspace/notification.rule' }).exactOptional(), {
    description: 'Address of the rule’s own stream, given at creation, written by `export`. Never with `stream`.',
    otherwise: '<workspace>/<notification>.<rule>',
    example: 'shop/order-paid.paid',
  }),
  enabled: said(z.boolean().exactOptional(), { description: 'false: the rule judges nothing.', default: true }),
  stream: said(slug.exactOptional(), {
    description: 'Name of a shared stream (streams/<name>.yaml). Left out, the rule has a stream of its own.',
    example: 'orders',
  }),
  cohort: said(
    keys({
      integration: said(slug, {
        description: 'Name of the analytics platform (integrations/<name>.yaml).',
        example: 'mixpanel',
      }),
      id: said(text(255), {
        description: 'Id of the cohort at the platform; its name may change.',
        example: '1478097',
      }),
      on: said(z.enum(['entered', 'left']), { description: 'Which change fires the rule.' }),
      first_sync: said(z.enum(['silent', 'notify']).exactOptional(), {
        description:
          'Whether those are told who were in the cohort when the platform first told of it. `silent`: only those who enter later.',
        default: 'silent',
      }),
    }).exactOptional(),
    {
      description:
        'In place of a stream: somebody enters or leaves a cohort. The recipients come from a lookup about the member.',
    },
  ),
  when: said(expression().exactOptional(), {
    description:
      'Boolean on `event`, `event_id`, `time`: the rule fires when it is true. Left out only where a cohort starts the rule.',
    example: 'event.status == "paid" && event.total > 100',
  }),
  recipients: said(recipients, { description: 'Who is told.' }),
});

export const notificationShape = keys({
  id: said(
    z
      .string()
      .refine((id) => isId('notification', id), { error: 'an id as export writes it: ntf_ and 26 characters' })
      .exactOptional(),
    { description: 'Given at creation, written by `export`. Who was told is kept by it, so a rename keeps it.' },
  ),
  name: said(text(200).exactOptional(), {
    description: 'Name for people.',
    otherwise: 'the file’s name',
    example: 'Order paid',
  }),
  category: said(slug.exactOptional(), { description: 'What people opt out of together.', example: 'orders' }),
  transactional: said(z.boolean().exactOptional(), {
    description: 'true: exempt from limits and quiet hours.',
    default: false,
  }),
  enabled: said(z.boolean().exactOptional(), {
    description: 'false: none of its rules judges anything.',
    default: true,
  }),
  security: said(security.exactOptional(), {
    description: 'Who may send events to the rules’ own streams. Not allowed where all rules use shared streams.',
  }),
  ...streamSettings,
  channels: said(
    keys({
      email: said(
        keys({
          template: said(slug, { description: 'Name of a template (templates/<name>/).', example: 'order-paid' }),
          accounts: said(z.array(slug).min(1, { error: 'at least one account' }).exactOptional(), {
            description: 'Accounts of the workspace to send through; the next is taken when one is suspended.',
            otherwise: 'the deployment’s',
            example: ['mailserver'],
          }),
        }).exactOptional(),
        { description: 'Sends email.' },
      ),
    }),
    { description: 'What is sent: one entry for each channel.' },
  ),
  rules: said(z.record(slug, rule), { description: 'When it is sent, and to whom; any number of rules by name.' }),
  retry: said(
    keys({
      attempts: said(z.int().min(1, { error: '1 to 100' }).max(100, { error: '1 to 100' }).exactOptional(), {
        description: 'Calls to a provider before a delivery fails.',
        default: 8,
      }),
      first: said(duration.exactOptional(), {
        description: 'Pause after the first failed call; it doubles.',
        default: '30s',
      }),
      max: said(duration.exactOptional(), { description: 'Longest pause between calls.', default: '4h' }),
    }).exactOptional(),
    { description: 'How a delivery is tried again.' },
  ),
  expires: said(duration.exactOptional(), {
    description: 'Nothing is sent later than this after the event.',
    default: '24h',
  }),
  in_doubt: said(z.enum(['hold', 'resend', 'drop']).exactOptional(), {
    description:
      'What happens when nobody can say whether a provider took a message. `hold`: an operator decides. `resend`: it may come twice. `drop`: it may never come.',
    default: 'hold',
  }),
});

export const emailTemplateShape = keys({
  subject: said(text(998), { description: 'Subject, a template.', example: 'Order {{ order_id }} is paid' }),
  from: said(text(998).exactOptional(), {
    description: 'Sender, `Name <address>` or an address.',
    otherwise: 'the account’s',
    example: 'Shop <shop@example.com>',
  }),
  strict: said(z.boolean().exactOptional(), {
    description: 'true: a missing variable fails the message instead of being empty.',
    default: false,
  }),
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function isLocale(tag: string): boolean {
  try {
    return new Intl.Locale(tag).language !== '';
  } catch {
    return false;
  }
}

/** Kinds of YAML files in the folder. */
export const FILE_SHAPES = {
  deployment: deploymentShape,
  workspace: workspaceShape,
  stream: streamShape,
  notification: notificationShape,
  'email-template': emailTemplateShape,
  account: accountShape,
  'jwt-provider': jwtProviderShape,
  integration: integrationShape,
} as const;
export type FileKind = keyof typeof FILE_SHAPES;
