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
}[] = [
  {
    kind: 'deployment',
    file: 'carillon.yaml',
    title: 'Deployment',
    text: 'Where the data is, and the provider accounts of workspaces that have none of their own. Where a channel has none, its messages go to the sandbox: the built-in inbox of the portal. In place of one account there may be a list of named ones, in order of priority. [Provider accounts](accounts.md) goes through each provider step by step. [People who sign in](sign-in.md) goes through `sign_in`.\n\nA process reads `backend`, `brokers`, `single_broker`, `kafka`, `stores`, `schema_registry` and `bounces` when it starts (`--config FILE` or `CARILLON_CONFIG`; each has a variable that goes before it, see [settings of a cluster](cluster-settings.md)); `apply` puts the rest into force.',
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
    text: 'What is sent, when, and to whom. ',
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
    text: 'Subject, sender and layout; the bodies are `email.html` (or `email.mjml`, from which the HTML is made when it is saved) and `email.txt` beside it. All are Handlebars with double braces: `{{ total }}`, `{{ customer.name }}`, `{{#if coupon}}…{{/if}}`, `{{#each items}}…{{/each}}`. Names are the fields of the event and the variables of the recipient; a variable wins.',
    example: `subject: Order {{ order_id }} is paid
from: Shop <shop@example.com>
layout: basic
strict: false
`,
  },
  {
    kind: 'email-variant',
    file: 'workspaces/<workspace>/templates/<template>/email.de.yaml',
    title: 'Email template in one language',
    text: 'Subject and sender for readers of one language; the bodies are `email.de.html` (or `email.de.mjml`) and `email.de.txt` beside it. The tag of the language stands in the names of the files: `de`, `de-AT`. Every part that the template without a language has is needed in each. [Templates](templates.md#languages) says who reads which.',
    example: `subject: Bestellung {{ order_id }} ist bezahlt
layout: basic-de
`,
  },
  {
    kind: 'push-template',
    file: 'workspaces/<workspace>/templates/<template>/push.yaml',
    title: 'Push template',
    text: 'A push notification: title, body or both, and what apps read. Each text is a template like those of an email, and none is escaped. Title, body, image, link and data together are at most 4,096 bytes when they are filled in; a message that is larger fails by that reason.\n\nA text message has no YAML file: `sms.txt` in the same folder is its text, a template. Filled in it is at most 1,600 characters and ten segments; `rule test` shows how many it takes.',
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
  },
  {
    kind: 'push-variant',
    file: 'workspaces/<workspace>/templates/<template>/push.de.yaml',
    title: 'Push template in one language',
    text: 'What readers of one language get; `sms.de.txt` is the same of a text message. What is no text (`priority`, `android`, `apns`, `strict`) is that of `push.yaml`.',
    example: `title: Bestellung {{ order_id }}
body: '{{ currency total "EUR" }} bezahlt'
`,
  },
  {
    kind: 'account',
    file: 'workspaces/<workspace>/accounts/<account>.yaml',
    title: 'Provider account',
    text: 'A provider account of the workspace’s own. Notifications name it under `channels.<channel>.accounts`; its kind says which channel it carries. [Provider accounts](accounts.md) lists the kinds and goes through each provider step by step.',
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
    text: 'An identity provider whose signed tokens may send events, where a stream or notification says `security: { jwt_provider: <provider> }`. `exp` is required in every token. `npx carillon jwt-provider check <provider>` fetches the keys and tries a token. See [Securing a stream](securing-a-stream.md).',
    example: `jwks_url: https://auth.example.com/.well-known/jwks.json
issuer: https://auth.example.com/
audience: https://events.example.com
`,
  },
  {
    kind: 'integration',
    file: 'workspaces/<workspace>/integrations/<integration>.yaml',
    title: 'Integration',
    text: 'Another system that recipients or events come from. Rules name a partner under `recipients: { from: lookup, integration: … }`; [Give us your recipients](recipients.md) is the page for those who write its endpoint. Analytics platforms have cohorts: rules name them under `cohort`, and [Connect a cohort](cohorts.md) says what to enter at each. Databases have tables: streams name them under `from`, and [React to changes in a database](databases.md) begins with one.',
    example: `kind: lookup
url: https://crm.example.com/recipients
authorization: { scheme: Bearer, key: { secret: CRM_KEY } }
match: variables.user_id
`,
  },
];
