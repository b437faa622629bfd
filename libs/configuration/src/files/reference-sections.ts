import type { FileKind } from '@carillon/shapes';

/**
 * Sections of the reference: the location of each kind of file, its purpose, and a complete example that a test reads.
 */
export const FILE_SECTIONS: readonly {
  readonly kind: FileKind;
  readonly file: string;
  readonly title: string;
  readonly text: string;
  readonly example: string;
  /** A file with some of the same keys, which the same page describes. */
  readonly variant?: {
    readonly kind: FileKind;
    readonly file: string;
    readonly text: string;
    readonly example: string;
  };
}[] = [
  {
    kind: 'deployment',
    file: 'carillon.yaml',
    title: 'Deployment',
    text: 'Where the data is, the [provider accounts](accounts.md) of notifications that name none, and how people [sign in](sign-in.md).\n\nA process reads `backend`, `brokers`, `single_broker`, `kafka`, `stores`, `schema_registry` and `bounces` when it starts (`--config FILE` or `CARILLON_CONFIG`; a [variable](cluster-settings.md) wins); `apply` puts the rest into force.',
    example: `backend: embedded
accounts:
  email:
    kind: smtp
    host: smtp.example.com
    port: 587
    tls: starttls
    user: shop
    password: { secret: SMTP_PASSWORD }
    from: Shop <shop@example.com>
public_url: https://notify.example.com
portal_url: https://carillon.example.com
sign_in:
  passwords: false
  providers:
    - name: company
      title: Company account
      issuer: https://login.example.com
      client_id: carillon
      client_secret: { secret: OIDC_SECRET }
      allowed_domains: [example.com]
      roles:
        - { group: carillon-owners, deployment_owner: true }
        - { group: shop-editors, workspace: shop, role: editor }
`,
  },
  {
    kind: 'workspace',
    file: 'workspaces/<workspace>/workspace.yaml',
    title: 'Workspace',
    text: 'A tenant: it owns everything in its folder and sees nothing of the others. All keys may be left out; the file must be there. [Test environments](test-environments.md) explain `environment`.',
    example: `name: Shop
time_zone: Europe/Berlin
locale: en
categories:
  orders: { name: Your orders, description: What happens to what you bought, was: [purchases] }
`,
  },
  {
    kind: 'stream',
    file: 'workspaces/<workspace>/streams/<stream>.yaml',
    title: 'Shared stream',
    text: 'Events for any number of rules: sent to `POST <gateway>/events/<workspace>/<stream>`, or read from a database with `from: { integration: shop-db, tables: { public.orders: event.id } }`. A rule that names no shared stream has one of its own.',
    example: `key: event.order_id
time: event.updated_at
security: { api_keys: [backend] }
`,
  },
  {
    kind: 'notification',
    file: 'workspaces/<workspace>/notifications/<notification>.yaml',
    title: 'Notification',
    text: 'What is sent, when, and to whom: [rules](rules.md), [how often and when](cadence.md).',
    example: `name: Order paid
category: orders
security: { api_keys: [backend] }
channels:
  email: { template: order-paid }
  sms: { template: order-paid }
  push: { template: order-paid }
rules:
  paid:
    when: event.status == "paid" && event.total > 100
    recipients:
      from: event
      to: { email: event.customer.email, phone: event.customer.phone, token: event.customer.device }
      unique_id: event.order_id
      variables:
        first_name: event.customer.name.split(" ")[0]
retry: { attempts: 8, first: 30s, max: 4h }
expires: 24h
in_doubt: hold
`,
  },
  {
    kind: 'email-template',
    file: 'workspaces/<workspace>/templates/<template>/email.yaml',
    title: 'Email template',
    text: 'Subject, sender and layout; the bodies are `email.html` (or `email.mjml`) and `email.txt` beside it. All are [templates](templates.md).',
    example: `subject: Order {{ order_id }} is paid
from: Shop <shop@example.com>
layout: basic
strict: false
`,
    variant: {
      kind: 'email-variant',
      file: 'workspaces/<workspace>/templates/<template>/email.de.yaml',
      text: 'For readers of one language: `de`, `de-AT`. The bodies are `email.de.html` (or `email.de.mjml`) and `email.de.txt`. Every part that the template without a language has is needed in each. [Languages](templates.md#languages) says who reads which.',
      example: `subject: Bestellung {{ order_id }} ist bezahlt
layout: basic-de
`,
    },
  },
  {
    kind: 'push-template',
    file: 'workspaces/<workspace>/templates/<template>/push.yaml',
    title: 'Push template',
    text: 'A push notification: title, body or both, and what apps read. Each text is a [template](templates.md), and none is escaped. Filled in, they have at most 4,096 bytes together.\n\nA text message has no YAML file: `sms.txt` in the same folder is its text, at most 1,600 characters and ten segments when filled in.',
    example: `title: Order {{ order_id }}
body: '{{ currency total "EUR" }} paid'
image: https://shop.example.com/paid.png
link: https://shop.example.com/orders/{{ order_id }}
data: { order: "{{ order_id }}" }
priority: high
collapse: order-{{ order_id }}
android: { channel: orders }
apns: { sound: default }
`,
    variant: {
      kind: 'push-variant',
      file: 'workspaces/<workspace>/templates/<template>/push.de.yaml',
      text: 'For readers of one language, and `sms.de.txt` for text messages. `priority`, `android`, `apns` and `strict` are those of `push.yaml`.',
      example: `title: Bestellung {{ order_id }}
body: '{{ currency total "EUR" }} bezahlt'
`,
    },
  },
  {
    kind: 'account',
    file: 'workspaces/<workspace>/accounts/<account>.yaml',
    title: 'Provider account',
    text: 'An account of the workspace’s own, which notifications name under `channels.<channel>.accounts`. [Provider accounts](accounts.md) lists the kinds.',
    example: `kind: smtp
host: smtp.example.com
port: 465
user: shop
password: { secret: SHOP_SMTP_PASSWORD }
from: Shop <shop@example.com>
`,
  },
  {
    kind: 'jwt-provider',
    file: 'workspaces/<workspace>/jwt-providers/<provider>.yaml',
    title: 'JWT provider',
    text: 'An identity provider whose signed tokens may send events to streams and notifications with `security: { jwt_provider: <provider> }`. See [Securing a stream](securing-a-stream.md).',
    example: `jwks_url: https://auth.example.com/.well-known/jwks.json
issuer: https://auth.example.com/
audience: https://events.example.com
`,
  },
  {
    kind: 'integration',
    file: 'workspaces/<workspace>/integrations/<integration>.yaml',
    title: 'Integration',
    text: 'Another system that recipients or events come from: a [partner](recipients.md) that knows recipients, an [analytics platform](cohorts.md) with cohorts, a [database](databases.md) or [Kafka cluster](kafka-topics.md) that streams read.',
    example: `kind: lookup
url: https://crm.example.com/recipients
authorization: { scheme: Bearer, key: { secret: CRM_KEY } }
match: variables.user_id
`,
  },
];
