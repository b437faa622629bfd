import type { Files } from './generators/yaml-files.ts';
import { shopFolder } from '../harness/shop.ts';

/** The secret that platforms of cohorts show, and what they must never be told. */
export const COHORT_SECRET = 'canary-cohort-secret-Lk31';

/** User and password of the webhook of Postmark; the key of the others as well, which nobody who sends cases signs with. */
export const CALLBACK_SECRET = 'carillon:canary-callback-secret-Wd47';

/** Accounts whose providers report, and what proves it. */
const REPORTERS: Readonly<Record<string, string>> = {
  postmark: 'credentials: { secret: PROOF }',
  mailgun: 'signing_key: { secret: PROOF }',
  sendgrid: `public_key: ${'A'.repeat(124)}`,
  ses: 'topic: "arn:aws:sns:eu-central-1:123456789012:carillon"',
};

/** Domain of the addresses to which reports of messages come back. */
export const BOUNCE_DOMAIN = 'bounces.test';

/**
 * The example shop, and one of everything else that a configuration folder may hold. Addresses lead nowhere but to this machine. `mailPort`: of the mail server
 * that the one account with a return path sends through.
 */
export const fuzzedFiles = (jwksUrl = 'http://127.0.0.1:9/jwks.json', mailPort = 9): Files => ({
  ...shopFolder(),
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/order-paid/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/order-paid/email.html': '<p>Hello {{ name }}, order {{ order_id }} is paid.</p>\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\ncategories: { orders: { name: Orders } }\n',
  'workspaces/shop/streams/timed.yaml':
    'time: event.updated_at\nrate: { per_second: 1000 }\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/streams/app.yaml':
    'security: { jwt_provider: auth, claims: { sub: event.user_id } }\nrate_per_credential: { per_second: 100000 }\n',
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${jwksUrl}\nissuer: https://issuer.example\naudience: shop\n`,
  'workspaces/shop/integrations/crm.yaml':
    'kind: lookup\nurl: http://127.0.0.1:9/recipients\nauthorization: { key: { secret: CRM_KEY } }\nmatch: variables.user_id\n',
  'workspaces/shop/integrations/mixpanel.yaml': 'kind: mixpanel\nauthorization: { key: { secret: COHORT_KEY } }\n',
  'workspaces/shop/integrations/amplitude.yaml': 'kind: amplitude\nauthorization: { key: { secret: COHORT_KEY } }\n',
  'workspaces/shop/integrations/segment.yaml':
    'kind: segment\nbatches: true\nauthorization: { key: { secret: COHORT_KEY } }\n',
  'workspaces/shop/integrations/feed.yaml': 'kind: generic\nauthorization: { key: { secret: COHORT_KEY } }\n',
  'workspaces/shop/notifications/watchers.yaml': `category: orders
channels:
  email: { template: watchers }
rules:
  each:
    stream: timed
    when: has(event.watchers)
    recipients:
      from: event
      for_each: event.watchers
      to: { email: item.email }
      unique_id: event_id
      variables: { first: item.name, total: event.total }
      where: variables.first != "nobody"
  asked:
    stream: timed
    when: has(event.user_id)
    recipients:
      from: lookup
      integration: crm
      user_ids: event.user_id
      unique_id: event_id
expires: 1h
in_doubt: hold
`,
  'workspaces/shop/accounts/returning.yaml': `kind: smtp\nhost: 127.0.0.1\nport: ${mailPort}\ntls: none\nfrom: a@example.com\nreturn_path: ${BOUNCE_DOMAIN}\n`,
  'workspaces/shop/notifications/returning.yaml': `channels:
  email: { template: watchers, accounts: [returning] }
rules:
  one:
    stream: timed
    when: has(event.returning)
    recipients:
      from: event
      to: { email: event.email }
      unique_id: event_id
`,
  'workspaces/shop/templates/watchers/email.yaml': 'subject: Hello {{ first }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/watchers/email.html':
    '<p>{{ first }}: {{currency total "EUR"}}</p>\n{{#each items}}<i>{{ name }}</i>{{else}}none{{/each}}\n',
  'workspaces/lab/workspace.yaml': 'name: Lab\n',
  'workspaces/lab/accounts/sms.yaml':
    'kind: twilio\naccount_sid: AC01\nauth_token: { secret: PROOF }\nfrom: "+4915112345678"\n',
  ...Object.fromEntries(
    Object.entries(REPORTERS).map(([kind, proof]) => [
      `workspaces/lab/accounts/${kind}.yaml`,
      `kind: smtp\nhost: 127.0.0.1\nport: 9\nfrom: a@example.com\nreceipts: { kind: ${kind}, ${proof} }\n`,
    ]),
  ),
});

/** An event of the shop that has everything that its rules and templates mention. */
export const FULL_EVENT = {
  order_id: 'A-1001',
  status: 'paid',
  total: 120.5,
  name: 'Ada',
  email: 'ada@example.com',
  user_id: 'ada',
  updated_at: '2026-01-31T08:00:00.000Z',
  customer: { name: 'Ada', email: 'ada@example.com', tags: ['a', 'b'] },
  items: [
    { name: 'tea', price: 3.5, quantity: 2 },
    { name: 'cup', price: 9, quantity: 1 },
  ],
  watchers: [{ name: 'Bob', email: 'bob@example.com' }],
  'first name': 'Ada',
  paid: true,
  note: null,
};
