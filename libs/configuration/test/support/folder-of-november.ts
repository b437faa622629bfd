/**
 * A folder as the documentation of 2026-11-21 had people write it, one of each kind that there was. It stays as it is: what
 * it says has to be read by every later version. Left out is `category`, which meant nothing then and has to be declared now.
 */
export const folderOfNovember: Readonly<Record<string, string>> = {
  'carillon.yaml': `backend: embedded
accounts:
  email:
    kind: smtp
    host: smtp.example.com
    port: 587
    tls: starttls
    user: shop
    password: { secret: SMTP_PASSWORD }
    from: Shop <shop@example.com>
`,
  'workspaces/shop/workspace.yaml': `name: Shop
time_zone: Europe/Berlin
locale: en
`,
  'workspaces/shop/streams/orders.yaml': `key: event.order_id
time: event.updated_at
security: { api_keys: [backend] }
`,
  'workspaces/shop/accounts/own.yaml': `kind: smtp
host: smtp.example.com
port: 465
user: shop
password: { secret: SHOP_SMTP_PASSWORD }
from: Shop <shop@example.com>
`,
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: https://auth.example.com/.well-known/jwks.json
issuer: https://auth.example.com/
audience: https://events.example.com
`,
  'workspaces/shop/integrations/crm.yaml': `kind: lookup
url: https://crm.example.com/recipients
authorization: { scheme: Bearer, key: { secret: CRM_KEY } }
match: variables.user_id
`,
  'workspaces/shop/integrations/posthog.yaml': `kind: posthog
url: https://eu.posthog.com
project: "12345"
authorization: { key: { secret: POSTHOG_KEY } }
cohorts: ["21"]
every: 1h
user_id: properties.user_id
`,
  'workspaces/shop/templates/order-paid/email.yaml': `subject: Order {{ order_id }} is paid
from: Shop <shop@example.com>
strict: false
`,
  'workspaces/shop/templates/order-paid/email.html': '<p>Thank you, {{ customer.name }}.</p>\n',
  'workspaces/shop/templates/order-paid/email.txt': 'Thank you, {{ customer.name }}.\n',
  'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
security: { api_keys: [backend] }
channels:
  email: { template: order-paid, accounts: [own] }
rules:
  paid:
    when: event.status == "paid" && event.total > 100
    recipients:
      from: event
      to: { email: event.customer.email }
      unique_id: event.order_id
      variables:
        first_name: event.customer.name.split(" ")[0]
  asked:
    stream: orders
    when: event.status == "asked"
    recipients:
      from: lookup
      integration: crm
      user_ids: event.watchers
      where: variables.wants_mail == true
      unique_id: event.order_id + ":" + variables.user_id
  joined:
    cohort: { integration: posthog, id: "21", on: entered }
    recipients:
      from: lookup
      integration: crm
      unique_id: event_id
retry: { attempts: 8, first: 30s, max: 4h }
expires: 24h
in_doubt: hold
`,
};
