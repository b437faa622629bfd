import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ChannelName } from '@carillon/domain';
import { cli } from '@carillon/testing';
import { NO_PROVIDERS, PUBLIC_URL, type ProviderPlaces } from './providers.ts';

export const WORKSPACE = 'shop';
export const STREAM = 'shop/orders';
/** Calls that an account allows at once, so the most that one failure can leave in doubt. */
const CONNECTIONS = 5;

/** Where the analytics platform posts to. */
export const COHORT_PATH = `/cohorts/${WORKSPACE}/feed`;
/** How long nobody else asks about a trigger once it is being asked (three times `total`, and ten seconds). */
export const CALL_LEASE = 16_000;

const SECRETS = { CRM_KEY: 'the-key-of-the-partner', FEED_KEY: 'the-key-of-the-platform' };
/** What the product has to find in its environment: the secrets, and that the partner on loopback may be called. */
export const SHOP_ENVIRONMENT: Readonly<Record<string, string>> = {
  CARILLON_SECRET_SHOP__CRM_KEY: SECRETS.CRM_KEY,
  CARILLON_SECRET_SHOP__FEED_KEY: SECRETS.FEED_KEY,
  CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
};

/** Whom the shop deals with; left out: nobody who carries SMS and push messages. */
export type Neighbours = {
  readonly smtpPort: number;
  readonly partnerUrl: string;
  readonly providers?: ProviderPlaces;
  /** What the shop wants of a message of which nobody knows whether it was taken; left out: it is held. */
  readonly inDoubt?: 'hold' | 'resend';
};
/** What opens its doors: the key of its stream, and that of the platform. */
export type ShopKeys = { readonly stream: string; readonly cohort: string };

type InDoubt = NonNullable<Neighbours['inDoubt']>;

/** A message is retried quickly; it begins with a name of its own for whatever is told. */
const notificationOf =
  (inDoubt: InDoubt) =>
  (template: string, rules: string, channel: ChannelName = 'email'): string =>
    `channels:
  ${channel}: { template: ${template} }
rules:
${rules}retry: { attempts: 8, first: 1s, max: 2s }
in_doubt: ${inDoubt}
`;

/** Under which name an order has its address on a channel, and what its status is where it is told there. */
export const TOLD_BY = {
  email: { address: 'email', status: 'paid', brief: 'brief' },
  sms: { address: 'phone', status: 'texted', brief: 'texted-briefly' },
  push: { address: 'token', status: 'pushed', brief: 'pushed-briefly' },
} as const satisfies Readonly<Record<ChannelName, object>>;
export const CHANNELS_OF_SHOP = Object.keys(TOLD_BY) as readonly ChannelName[];

/** Tells who the order itself names. */
const orderRule = (status: string, address: string = TOLD_BY.email.address): string => `  ${status}:
    stream: orders
    when: event.status == "${status}"
    recipients:
      from: event
      to: { ${address}: event.${address} }
      unique_id: event.order_id
`;

/** The notification of each order, and the one that soon is of no use, on the other channels. */
const ordersElsewhere = (inDoubt: InDoubt): Readonly<Record<string, string>> => {
  const notification = notificationOf(inDoubt);
  return Object.fromEntries(
    (['sms', 'push'] as const).flatMap((channel) => {
      const { address, status, brief } = TOLD_BY[channel];
      return [
        [
          `workspaces/shop/notifications/order-${status}.yaml`,
          notification('order-paid', orderRule(status, address), channel),
        ],
        [
          `workspaces/shop/notifications/order-${brief}.yaml`,
          `${notification('order-paid', orderRule(brief, address), channel)}expires: 2s\n`,
        ],
      ];
    }),
  );
};

const memberRule = (name: string, cohort: string, change: string): string => `  ${name}:
    cohort: { integration: feed, id: ${cohort}, on: ${change} }
    recipients:
      from: lookup
      integration: crm
      unique_id: event_id
`;

/**
 * A notification for every order, and one that soon is of no use; one for orders that somebody watches, whom the partner knows; one for who enters and
 * leaves a cohort. The second has the number of the partner's answer in its slot: two answers would be two messages.
 */
export const shopFiles = ({
  smtpPort,
  partnerUrl,
  providers = NO_PROVIDERS,
  inDoubt = 'hold',
}: Neighbours): Readonly<Record<string, string>> => ({
  'carillon.yaml': `public_url: ${PUBLIC_URL}
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtpPort}, tls: none, connections: ${CONNECTIONS}, from: "Shop <shop@example.com>", return_path: bounces.example.com }
  sms:
${['main', 'spare'].map((name) => `    - { name: ${name}, kind: twilio, account_sid: ${providers.twilioAccount}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000", max_segments: 10, connections: ${CONNECTIONS}, url: "${providers.twilioUrl}" }\n`).join('')}  push: { kind: fcm, credentials: { secret: FCM_KEY_FILE }, requests: ${CONNECTIONS}, url: "${providers.fcmUrl}" }
`,
  ...ordersElsewhere(inDoubt),
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': `security: { api_keys: [backend] }
`,
  'workspaces/shop/integrations/crm.yaml': `kind: lookup
url: ${partnerUrl}
authorization: { key: { secret: CRM_KEY } }
match: variables.user_id
timeouts: { connect: 1s, total: 2s }
`,
  'workspaces/shop/integrations/feed.yaml': `kind: generic
authorization: { key: { secret: FEED_KEY } }
`,
  'workspaces/shop/notifications/order-paid.yaml': notificationOf(inDoubt)('order-paid', orderRule('paid')),
  'workspaces/shop/notifications/order-brief.yaml': `${notificationOf(inDoubt)('order-paid', orderRule('brief'))}expires: 2s\n`,
  'workspaces/shop/notifications/order-watched.yaml': notificationOf(inDoubt)(
    'about-user',
    `  watched:
    stream: orders
    when: event.status == "watched"
    recipients:
      from: lookup
      integration: crm
      user_ids: event.watcher
      where: variables.wants_mail == true
      unique_id: event.order_id + "/" + variables.answer
`,
  ),
  'workspaces/shop/notifications/member.yaml': notificationOf(inDoubt)(
    'about-member',
    memberRule('came', 'vip', 'entered') + memberRule('went', 'vip', 'left') + memberRule('quit', 'club', 'left'),
  ),
  'workspaces/shop/templates/order-paid/email.yaml': 'subject: "{{ order_id }}"\n',
  'workspaces/shop/templates/order-paid/email.txt': 'Order {{ order_id }} is paid.\n',
  'workspaces/shop/templates/order-paid/sms.txt': '{{ order_id }} is paid. No more of these: {{ unsubscribe_url }}\n',
  'workspaces/shop/templates/order-paid/push.yaml': 'title: "{{ order_id }}"\nbody: It is paid.\n',
  'workspaces/shop/templates/about-member/email.yaml': 'subject: "{{ change }}/{{ user_id }}"\n',
  'workspaces/shop/templates/about-member/email.txt': '{{ user_id }} has {{ change }}.\n',
  'workspaces/shop/templates/about-user/email.yaml': 'subject: "{{ user_id }}"\n',
  'workspaces/shop/templates/about-user/email.txt': 'News for {{ user_id }}.\n',
});

/** Each takes 10 s: the product waits so long before it says that nobody knows whether it is done. */
const APPLY_REPEATS = 5;
const NOBODY_KNOWS = 'whether it will be is unknown';

async function succeed(args: readonly string[], dataDir: string, repeats = 0): Promise<string> {
  const { code, stdout, stderr } = await cli(args, { dataDir });
  if (code === 0) return stdout;
  if (repeats > 0 && stderr.includes(NOBODY_KNOWS)) return succeed(args, dataDir, repeats - 1);
  throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
}

/**
 * Applies the shop's configuration, and what more is in it, to the running product, as an operator would, and answers the
 * keys to it.
 */
export async function openShop(
  folder: string,
  dataDir: string,
  neighbours: Neighbours,
  more: Readonly<Record<string, string>> = {},
): Promise<ShopKeys> {
  const configuration = join(folder, 'configuration');
  for (const [path, text] of Object.entries({ ...shopFiles(neighbours), ...more })) {
    const file = join(configuration, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  // Where many products start side by side it may take longer than the product waits; said again it changes nothing.
  await succeed(['apply', '-f', configuration], dataDir, APPLY_REPEATS);
  const made = await succeed(['api-key', 'create', 'backend', '--workspace', WORKSPACE, '--json'], dataDir);
  return { stream: (JSON.parse(made) as { key: string }).key, cohort: SECRETS.FEED_KEY };
}
