import { providerResult, type CohortChange, type NotificationBody } from '@carillon/domain';
import type { Json } from '@carillon/kernel';
import { account, integration, notification, stream, template, type Wish } from '@carillon/testing/given';
import { answered, type Decision } from '@carillon/testing/memory';
import type { Scheduler } from './scheduler.ts';

/** What the shop sends, and to whom: one rule that names the recipient itself, one that asks, one of a cohort. */

const QUICK = {
  retry: { attempts: 6, first: '1s', max: '4s' },
  channels: { email: { template: '', accounts: ['main', 'spare'] } },
};
/** The account for SMS; the memory provider calls it by its kind. */
export const TEXTS = 'twilio';

const sending = (name: string, rule: NotificationBody['rules'][string], more: Partial<NotificationBody> = {}): Wish =>
  notification(name, {
    ...QUICK,
    channels: { email: { ...QUICK.channels.email, template: name } },
    rules: { main: rule },
    ...more,
  });

/** So many of the six orders may be told of: all are one person's. */
export const MOST_TOLD = 4;
const LIMITED = { cadence: { limits: [{ max: MOST_TOLD, per: '1d', then: 'drop' as const }] } };

/** Several events name one order: of these one message goes out. */
const orderPaid = (more: Partial<NotificationBody> = {}, when = 'event.kind == "paid"'): Wish =>
  sending(
    'order-paid',
    {
      stream: 'orders',
      when,
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order', person: '"buyer"' },
    },
    { ...LIMITED, ...more },
  );
const welcome = (more: Partial<NotificationBody> = {}): Wish =>
  sending(
    'welcome',
    {
      stream: 'orders',
      when: 'event.kind == "joined"',
      recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.users' },
    },
    more,
  );
const ENTERED = sending('entered', {
  cohort: { integration: 'segments', id: 'vip', on: 'entered', first_sync: 'notify' },
  recipients: { from: 'lookup', integration: 'crm', unique_id: 'event_id' },
});
/** What nobody's limit holds back, by email and by SMS, to readers who may opt out or write STOP. */
const NEWS = notification('news', {
  retry: QUICK.retry,
  channels: {
    email: { template: 'news', accounts: ['main', 'spare'] },
    sms: { template: 'news', accounts: [TEXTS] },
  },
  rules: {
    main: {
      stream: 'orders',
      when: 'event.kind == "news"',
      recipients: { from: 'event', to: { email: 'event.email', phone: 'event.phone' }, unique_id: 'event_id' },
    },
  },
});
/** So many items go out at once; fewer wait for their window, which is short enough for a run to see its end. */
export const MOST_ITEMS = 3;
/** What collects for digests: their subject names every item, in words of the events alone. */
const ITEMS = notification('items', {
  ...QUICK,
  channels: { email: { ...QUICK.channels.email, template: 'item' } },
  cadence: { digest: { window: { fixed: '3s' }, max_items: MOST_ITEMS, template: 'digest' } },
  rules: {
    main: {
      stream: 'orders',
      when: 'event.kind == "item"',
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' },
    },
  },
});

/** Somebody who gets news on both channels. */
export type Reader = { readonly email: string; readonly phone: string };
export const readerOf = (n: number): Reader => ({ email: `reader-${n}@example.com`, phone: `+4915112345${100 + n}` });

const mail = (host: string): Wish =>
  account(host, { kind: 'smtp', host, port: 25, tls: 'none', from: 'Shop <shop@example.com>', connections: 2 });

export const FIRST_WISHES: readonly Wish[] = [
  stream('orders', { security: { api_keys: ['main'] } }),
  mail('main'),
  mail('spare'),
  account(TEXTS, { kind: 'twilio', account_sid: 'AC01', auth_token: { secret: 'TEXTS' }, from: '+4930123456' }),
  integration('crm', {
    kind: 'lookup',
    url: 'https://crm.example.com/users',
    authorization: { key: { secret: 'CRM_KEY' } },
    match: 'variables.user_id',
    timeouts: { connect: '500ms', total: '1s' },
  }),
  integration('segments', { kind: 'generic', authorization: { key: { secret: 'SEGMENTS_KEY' } } }),
  // The subject names what must be told at most once, in words of the event alone.
  template('order-paid', { email: { subject: 'order {{order}}', text: 'Paid.' } }),
  template('welcome', { email: { subject: 'joined {{n}} {{user_id}}', text: 'Welcome.' } }),
  template('entered', { email: { subject: 'entered {{message_id}} {{user_id}}', text: 'Hello.' } }),
  template('news', { email: { subject: 'news {{n}}', text: 'News.' }, sms: { text: 'text {{n}}' } }),
  template('item', { email: { subject: 'item {{n}}', text: 'An item.' } }),
  template('digest', { email: { subject: 'digest of {{items}}', text: 'Items.' } }),
  NEWS,
  ITEMS,
  orderPaid(),
  welcome(),
  ENTERED,
];

/** Changes that somebody may make while everything runs. */
export const LATER_WISHES: readonly (readonly Wish[])[] = [
  [orderPaid({}, 'event.kind == "paid" && event.n > 3')],
  [orderPaid({ enabled: false })],
  [orderPaid({ expires: '2s' })],
  [orderPaid()],
  [
    template('order-paid', { email: { subject: 'order {{order}}', text: 'It is paid.' } }),
    welcome({ retry: { ...QUICK.retry, attempts: 3 } }),
  ],
];

export type Posted = { readonly [name: string]: Json };

/** An event of the shop: one in two is about an order that others are about too. */
export function eventOf({ between, chance }: Scheduler, n: number): Posted {
  if (chance() < 0.6) {
    const order = `order-${between(1, 6)}`;
    return { n, kind: 'paid', order, email: chance() < 0.05 ? null : `${order}-${between(1, 2)}@example.com` };
  }
  return {
    n,
    kind: chance() < 0.8 ? 'joined' : 'other',
    users: Array.from({ length: between(1, 2) }, (_, at) => `user-${n}-${at}`),
  };
}

/** What the platform says of its cohort. */
export type CohortPost = { readonly change: Omit<CohortChange, 'name'>; readonly name: string };

export function cohortPostOf({ between, chance }: Scheduler, n: number): CohortPost {
  const userIds = ['ada', 'bob', 'cleo', 'dora'].filter(() => chance() < 0.5);
  const plain = { cohort: 'vip', session: null, page: null, userIds, time: null, skipped: 0 };
  const luck = chance();
  if (luck < 0.5) return { change: { ...plain, action: 'add' }, name: 'VIP' };
  if (luck < 0.75) return { change: { ...plain, action: 'remove' }, name: 'VIP' };
  const page = { number: 1, of: between(1, 2) === 1 ? 1 : 2 };
  return { change: { ...plain, action: 'replace', session: `session-${n}`, page }, name: 'VIP' };
}

/** What the partner knows: an address that is another one in each answer, so that two answers would be two messages. */
export function partnerAnswers(userIds: readonly string[], calls: number, { chance }: Scheduler, isCalm: boolean) {
  const luck = isCalm ? 1 : chance();
  if (luck < 0.08) return { kind: 'unavailable', status: 500, detail: 'broken' } as const;
  if (luck < 0.1) return { kind: 'throttled', status: 429, retryAfter: 2000, detail: 'slow down' } as const;
  return answered(
    userIds.map((user) => ({ to: { email: `${user}.${calls}@example.com` }, variables: { user_id: user } })),
  );
}

/** What a provider does with a message, and what it says of it. */
export function providerDecides({ chance }: Scheduler, isCalm: boolean): Decision {
  const luck = isCalm ? 1 : chance();
  if (luck < 0.05) return { accepted: false, answer: providerResult('transient', '451', 'try again') };
  if (luck < 0.1) return { accepted: false, answer: providerResult('refused_content', '554', 'not this') };
  if (luck < 0.13)
    return {
      accepted: false,
      answer: providerResult('refused_recipient', '550', 'nobody', { suppress: 'hard_bounce' }),
    };
  if (luck < 0.16) return { accepted: true, answer: providerResult('ambiguous', '', 'the connection broke') };
  if (luck < 0.18) return { accepted: false, answer: providerResult('ambiguous', '', 'the connection broke') };
  return { accepted: true, answer: providerResult('accepted', '250', 'taken') };
}
