import type { WrittenKind } from '@carillon/configuration';
import type { OperationExample } from './operation-example.ts';
import { KINDS_OF_RESOURCES } from '../resources/kinds.ts';
import { filesOfAll } from '../resources/publish-resources.ts';

const AT = '2026-11-22T10:42:00.000Z';
const ADA = { kind: 'person', id: 'per_5Q8W2ZC4M1V7X9K3B6N0HTR2PD', name: 'Ada' };
const BY = { by: ADA, origin: 'portal', message: 'Only large orders', request_id: 'req_1B7N5XK8C3Z9V4M2Q6W0JHT8RF' };

/** A body of each kind and the name of its resource. */
const BODIES: Readonly<Record<WrittenKind, readonly [name: string, body: object]>> = {
  notification: [
    'order-paid',
    {
      name: 'Order paid',
      channels: { email: { template: 'order-paid' } },
      rules: {
        paid: {
          stream: 'orders',
          when: 'event.status == "paid" && event.total > 100',
          recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
        },
      },
    },
  ],
  template: [
    'order-paid',
    { email: { subject: 'Order {{ order_id }} is paid', html: '<p>Thank you.</p>', layout: 'basic' } },
  ],
  layout: ['basic', { html: '<html><body>{{{body}}}{{> footer}}</body></html>' }],
  partial: ['footer', { text: '<p>Shop, Berlin</p>' }],
  stream: ['orders', { key: 'event.order_id', security: { api_keys: ['backend'] } }],
  integration: [
    'crm',
    {
      kind: 'lookup',
      url: 'https://crm.example.com/recipients',
      authorization: { scheme: 'Bearer', key: { secret: 'CRM_KEY' } },
    },
  ],
  account: ['mail', { kind: 'smtp', host: 'smtp.example.com', port: 587, from: 'Shop <shop@example.com>' }],
  jwt_provider: ['auth', { jwks_url: 'https://auth.example.com/jwks.json', audience: 'shop' }],
  workspace: ['', { name: 'Shop', time_zone: 'Europe/Berlin' }],
  deployment: ['', { public_url: 'https://notify.example.com' }],
};
const PROVIDER = {
  jwks_url: 'https://auth.example.com/jwks.json',
  issuer: null,
  audiences: ['shop'],
  algorithms: ['RS256'],
  used_by: ['stream orders'],
};

/** Examples of every operation on every kind. */
export const RESOURCE_EXAMPLES: Readonly<Record<string, OperationExample>> = {
  ...Object.fromEntries(KINDS_OF_RESOURCES.flatMap((kind) => Object.entries(examplesOf(kind)))),
  listPublications: {
    answers: {
      items: [{ number: 12, at: AT, ...BY, changes: [{ kind: 'notification', name: 'order-paid', action: 'update' }] }],
      next: null,
    },
  },
};

function examplesOf({
  kind,
  one,
  many,
  asking,
}: (typeof KINDS_OF_RESOURCES)[number]): Record<string, OperationExample> {
  const [name, body] = BODIES[kind];
  const workspace = kind === 'deployment' ? '' : 'shop';
  const facts = { number: 12, version: 3, updated_at: AT, updated_by: ADA, origin: 'portal', draft: null };
  const shown = { kind, workspace, name, body, ...facts };
  const item = kind === 'jwt_provider' ? { ...shown, ...PROVIDER } : shown;
  const resource = [kind, [workspace, name].filter((part) => part !== '').join('/')].join(' ').trim();
  const field = { path: 'name', before: null, after: 'Order paid' };
  const change = { action: 'update', resource, note: null, formers: [], told: null, waiting: null, fields: [field] };
  const files = filesOfAll([{ ref: { kind, workspace, name }, body }]);
  const plan = { number: 12, faults: [], warnings: [], changes: [change], files };
  return {
    [`list${many}`]: { answers: { items: [item], next: null } },
    [`get${one}`]: { answers: shown },
    [`put${one}`]: { takes: body, answers: shown },
    [`delete${one}`]: { takes: {}, answers: { deleted: true, new_number: 13 } },
    [`${asking}${one}`]: { takes: body, answers: plan },
    [`list${one}Versions`]: {
      answers: { items: [{ number: 12, at: AT, ...BY, action: 'update', version: 3 }], next: null },
    },
    [`get${one}Version`]: { answers: shown },
    [`diff${one}`]: { answers: { from: 11, to: 12, fields: [field], files: [] } },
    [`rollBack${one}`]: {
      takes: { number: 11, message: 'As it was on Monday' },
      answers: { applied: true, new_number: 13, gone: [], ...plan },
    },
  };
}
