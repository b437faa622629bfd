import { writeConfigurationFolder } from '@carillon/configuration';
import type { ChannelName } from '@carillon/domain/channels';
import type { NotificationBody } from '@carillon/domain/configuration';
import {
  configurationOf,
  integration,
  notification,
  stream,
  template,
  workspaceOf,
  type Wish,
} from '@carillon/testing/given';

/** The example shop of chaos, simulation and fuzz: one workspace with a stream of orders, a partner and a cohort. */
export const WORKSPACE = 'shop';
export const STREAM = `${WORKSPACE}/orders`;

/** Field of an event with the address, its status, and the status of the notification that expires soon. */
export const ORDER_FIELDS = {
  email: { address: 'email', status: 'paid', brief: 'brief' },
  sms: { address: 'phone', status: 'texted', brief: 'texted-briefly' },
  push: { address: 'token', status: 'pushed', brief: 'pushed-briefly' },
} as const satisfies Readonly<Record<ChannelName, object>>;
export const SHOP_CHANNELS = Object.keys(ORDER_FIELDS) as readonly ChannelName[];

/** Items after which the digest of `items` goes out at once. */
export const MAX_ITEMS = 3;

export type ShopOptions = {
  readonly retry?: NonNullable<NotificationBody['retry']>;
  readonly inDoubt?: 'hold' | 'resend';
  /** Accounts of each channel. Defaults to those of the deployment. */
  readonly accounts?: Partial<Readonly<Record<ChannelName, readonly string[]>>>;
  readonly partnerUrl?: string;
  readonly partnerTimeouts?: { readonly connect: string; readonly total: string };
  /** Subject of messages about a member of a cohort. */
  readonly memberSubject?: string;
  /** Window of a digest. Defaults to one minute, the shortest that an operator may set. */
  readonly digestWindow?: string;
  /** Whether the first sync of the cohort notifies its members. */
  readonly firstSync?: 'notify';
};

type Rules = NotificationBody['rules'];

/** A notification of the shop over one channel. */
function notify(
  name: string,
  channel: ChannelName,
  used: string,
  rules: Rules,
  { retry = { attempts: 8, first: '1s', max: '2s' }, inDoubt = 'hold', accounts = {} }: ShopOptions,
): Wish & { readonly body: NotificationBody } {
  const own = accounts[channel];
  const body: NotificationBody = {
    channels: { [channel]: { template: used, ...(own && { accounts: [...own] }) } },
    rules,
    retry,
    in_doubt: inDoubt,
  };
  return notification(name, body) as Wish & { readonly body: NotificationBody };
}

/** Changes the body of a notification. */
export const withBody = (
  { ref, body }: Wish & { readonly body: NotificationBody },
  more: Partial<NotificationBody>,
): Wish => notification(ref.name, { ...body, ...more });

const orderRule = (status: string, address: string, when = `event.status == "${status}"`): Rules => ({
  [status]: {
    stream: 'orders',
    when,
    recipients: { from: 'event', to: { [address]: `event.${address}` }, unique_id: 'event.order_id' },
  },
});

/** Notifies the customer of an order by email. Several events may name one order; one message goes out. */
export const orderPaid = (options: ShopOptions = {}, when?: string) =>
  notify('order-paid', 'email', 'order-paid', orderRule('paid', 'email', when), options);

/** Asks the partner about the watchers of an order. The number of the response is in the slot: two responses would be two messages. */
export const orderWatched = (options: ShopOptions = {}) =>
  notify(
    'order-watched',
    'email',
    'about-user',
    {
      watched: {
        stream: 'orders',
        when: 'event.status == "watched"',
        recipients: {
          from: 'lookup',
          integration: 'crm',
          user_ids: 'event.watcher',
          where: 'variables.wants_mail == true',
          unique_id: 'event.order_id + "/" + variables.user_id + "/" + variables.answer',
        },
      },
    },
    options,
  );

function member(options: ShopOptions): Wish {
  const rule = (id: string, on: 'entered' | 'left'): Rules[string] => ({
    cohort: {
      integration: 'feed',
      id,
      on,
      ...(options.firstSync && on === 'entered' && { first_sync: options.firstSync }),
    },
    recipients: { from: 'lookup', integration: 'crm', unique_id: 'event_id' },
  });
  const rules = { came: rule('vip', 'entered'), went: rule('vip', 'left'), quit: rule('club', 'left') };
  return notify('member', 'email', 'about-member', rules, options);
}

/** News over email and SMS to readers who may opt out. */
function news({ retry, accounts = {} }: ShopOptions): Wish {
  const over = (channel: ChannelName) => ({
    template: 'news',
    ...(accounts[channel] && { accounts: [...accounts[channel]] }),
  });
  return notification('news', {
    ...(retry && { retry }),
    channels: { email: over('email'), sms: over('sms') },
    rules: {
      main: {
        stream: 'orders',
        when: 'event.status == "news"',
        recipients: { from: 'event', to: { email: 'event.email', phone: 'event.phone' }, unique_id: 'event_id' },
      },
    },
  });
}

/** Items for digests. The subject of a digest names its items. */
const items = (options: ShopOptions): Wish =>
  withBody(
    notify(
      'items',
      'email',
      'item',
      {
        main: {
          stream: 'orders',
          when: 'event.status == "item"',
          recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' },
        },
      },
      options,
    ),
    {
      cadence: {
        digest: { window: { fixed: options.digestWindow ?? '1m' }, max_items: MAX_ITEMS, template: 'digest' },
      },
    },
  );

/** The notifications of orders on other channels, and those that expire after 2 s. */
const ordersElsewhere = (options: ShopOptions): readonly Wish[] =>
  SHOP_CHANNELS.flatMap((channel) => {
    const { address, status, brief } = ORDER_FIELDS[channel];
    const order = (name: string) => notify(`order-${name}`, channel, 'order-paid', orderRule(name, address), options);
    return [...(channel === 'email' ? [] : [order(status)]), withBody(order(brief), { expires: '2s' })];
  });

/** Every resource of the shop, accounts apart. */
export const shopResources = (options: ShopOptions = {}): readonly Wish[] => [
  workspaceOf({ name: 'Shop' }),
  stream('orders', { security: { api_keys: ['backend'] } }),
  integration('crm', {
    kind: 'lookup',
    url: options.partnerUrl ?? 'https://crm.example.com/users',
    authorization: { key: { secret: 'CRM_KEY' } },
    match: 'variables.user_id',
    timeouts: options.partnerTimeouts ?? { connect: '1s', total: '2s' },
  }),
  integration('feed', { kind: 'generic', authorization: { key: { secret: 'FEED_KEY' } } }),
  // Subjects name what is sent at most once, in words of the event alone.
  template('order-paid', {
    email: { subject: '{{order_id}}', text: 'Order {{order_id}} is paid.\n' },
    sms: { text: '{{order_id}} is paid. No more of these: {{unsubscribe_url}}\n' },
    push: { title: '{{order_id}}', body: 'It is paid.' },
  }),
  template('about-user', { email: { subject: '{{user_id}}', text: 'News for {{user_id}}.\n' } }),
  template('about-member', {
    email: { subject: options.memberSubject ?? '{{change}}/{{user_id}}', text: '{{user_id}} has {{change}}.\n' },
  }),
  template('news', { email: { subject: 'news {{n}}', text: 'News.' }, sms: { text: 'text {{n}}' } }),
  template('item', { email: { subject: 'item {{n}}', text: 'An item.' } }),
  template('digest', { email: { subject: 'digest of {{items}}', text: 'Items.' } }),
  orderPaid(options),
  ...ordersElsewhere(options),
  orderWatched(options),
  member(options),
  news(options),
  items(options),
];

/** The shop as a configuration folder: text by path. */
export const shopFolder = (options: ShopOptions = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(writeConfigurationFolder(configurationOf(shopResources(options))));
