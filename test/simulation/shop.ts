import type { CohortChange } from '@carillon/domain/cohorts';
import type { NotificationBody } from '@carillon/domain/configuration';
import { providerResult } from '@carillon/domain/deliveries';
import type { Json } from '@carillon/kernel';
import { account, notification, stream, template, type Wish } from '@carillon/testing/given';
import { answered, type Decision } from '@carillon/testing/memory';
import { orderPaid, orderWatched, shopResources, STREAM, withBody, type ShopOptions } from '../harness/shop.ts';
import type { Scheduler } from './scheduler.ts';

/** The account for SMS. The memory provider names it by its kind. */
export const TEXTS = 'twilio';
/** Messages of one person about orders that the limit allows. */
export const MAX_ORDERS = 4;

const OPTIONS = {
  retry: { attempts: 6, first: '1s', max: '4s' },
  accounts: { email: ['main', 'spare'], sms: [TEXTS] },
  partnerTimeouts: { connect: '500ms', total: '1s' },
  memberSubject: '{{change}} {{message_id}} {{user_id}}',
  digestWindow: '3s',
  firstSync: 'notify',
} as const satisfies ShopOptions;

/** All orders are of one person, who has a limit. */
const orders = (more: Partial<NotificationBody> = {}, when?: string): Wish => {
  const { body, ref } = orderPaid(OPTIONS, when);
  const rules = Object.fromEntries(
    Object.entries(body.rules).map(([name, rule]) => [
      name,
      { ...rule, recipients: { ...rule.recipients, person: '"buyer"' } },
    ]),
  ) as NotificationBody['rules'];
  const cadence = { limits: [{ max: MAX_ORDERS, per: '1d', then: 'drop' as const }] };
  return notification(ref.name, { ...body, rules, cadence, ...more });
};

/** Somebody who gets news on both channels. */
export type Reader = { readonly email: string; readonly phone: string };
export const readerOf = (n: number): Reader => ({ email: `reader-${n}@example.com`, phone: `+4915112345${100 + n}` });

const ELSEWHERE = new Set(['order-texted', 'order-texted-briefly', 'order-pushed', 'order-pushed-briefly']);

const mail = (host: string): Wish =>
  account(host, { kind: 'smtp', host, port: 25, tls: 'none', from: 'Shop <shop@example.com>', connections: 2 });

/** Parcels that do not arrive in time, and those that move on, once in a while. */
const parcels = (after: string): readonly Wish[] => [
  stream('parcels', { key: 'event.parcel', security: { api_keys: ['backend'] } }),
  template('parcel', { email: { subject: 'parcel {{n}}', text: '{{parcel}}' } }),
  notification('parcels', {
    channels: { email: { template: 'parcel', accounts: [...OPTIONS.accounts.email] } },
    retry: OPTIONS.retry,
    rules: {
      late: parcelRule({ when: 'event.status == "sent"', after, unless: 'event.status == "arrived"' }),
      silent: parcelRule({ when: 'event.status == "moved"', after_last: '3s', cooldown: '8s' }),
      arrived: parcelRule({ when: 'changedTo(event.status, "arrived")', cooldown: 'until_false' }),
    },
  }),
];
function parcelRule(rule: Partial<NotificationBody['rules'][string]>): NotificationBody['rules'][string] {
  return {
    stream: 'parcels',
    ...rule,
    recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' },
  };
}

/** Where an event is posted: those of a parcel have a stream of their own. */
export const streamOf = (event: Posted): string => (event['parcel'] === undefined ? STREAM : 'shop/parcels');

export const PARCEL_STATUSES = ['sent', 'sent', 'moved', 'arrived'] as const;

export const FIRST_WISHES: readonly Wish[] = [
  ...parcels('2s'),
  mail('main'),
  mail('spare'),
  account(TEXTS, { kind: 'twilio', account_sid: 'AC01', auth_token: { secret: 'TEXTS' }, from: '+4930123456' }),
  // Other channels have no account here.
  ...shopResources(OPTIONS).filter(({ ref: { name } }) => !ELSEWHERE.has(name) && name !== 'order-paid'),
  ...shopResources(OPTIONS).filter(({ ref }) => ref.kind === 'template' && ref.name === 'order-paid'),
  orders(),
];

/** Changes of the configuration during a run. */
export const LATER_WISHES: readonly (readonly Wish[])[] = [
  [orders({}, 'event.status == "paid" && event.n > 3')],
  [orders({ enabled: false })],
  [orders({ expires: '2s' })],
  [orders()],
  parcels('4s').slice(-1),
  [
    template('order-paid', { email: { subject: '{{order_id}}', text: 'It is paid.' } }),
    withBody(orderWatched(OPTIONS), { retry: { ...OPTIONS.retry, attempts: 3 } }),
  ],
];

export type Posted = { readonly [name: string]: Json };

/** An event of the shop: one in two is about an order that others are about too. */
export function eventOf({ between, chance }: Scheduler, n: number): Posted {
  if (chance() < 0.6) {
    const order = `order-${between(1, 6)}`;
    return {
      n,
      status: 'paid',
      order_id: order,
      email: chance() < 0.05 ? null : `${order}-${between(1, 2)}@example.com`,
    };
  }
  return {
    n,
    order_id: `watched-${n}`,
    status: chance() < 0.8 ? 'watched' : 'other',
    watcher: Array.from({ length: between(1, 2) }, (_, at) => `user-${n}-${at}`),
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
    userIds.map((user) => ({
      to: { email: `${user}.${calls}@example.com` },
      variables: { user_id: user, wants_mail: true, answer: String(calls) },
    })),
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
