import { describe, expect, it } from 'vitest';
import {
  configurationOf,
  DeliveryStory,
  givenIntent,
  notification,
  ORDER_PAID,
  orderShop,
} from '@carillon/testing/given';
import type { Configuration, NotificationBody } from '../../src/configuration/index.ts';
import {
  accountsOf,
  deliverySettings,
  findNotification,
  presend,
  type BeforeSend,
} from '../../src/deliveries/index.ts';
import { account, deployment } from '@carillon/testing/given';

const NTF = 'ntf_paid';
const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const body: NotificationBody = { ...ORDER_PAID, id: NTF, rules: { paid: { ...rule, id: 'rul_paid' } } };
const shop = (change: Partial<NotificationBody> = {}): Configuration =>
  configurationOf(orderShop({ ...body, ...change }));
const { delivery } = new DeliveryStory(givenIntent('first'));
const late = delivery.notAfter + 1;
const judged = (newest: Configuration, suppressed: BeforeSend['suppressed'], now: number) =>
  presend({ delivery, newest, consents: [], suppressed, now });
const listed = { source: 'hard_bounce', detail: '550 5.1.1' };

describe('the checks directly before a delivery is sent', () => {
  it('pass a delivery that is still wanted, in time and not suppressed, up to the last millisecond', () => {
    expect(judged(shop(), null, delivery.notAfter)).toMatchObject({ kind: 'go' });
  });

  const withdrawn: Record<string, Configuration> = {
    'the notification is gone': configurationOf([]),
    'the notification is switched off': shop({ enabled: false }),
    'the rule is gone': shop({ rules: { late: rule } }),
    'the rule is switched off': shop({ rules: { paid: { ...rule, id: 'rul_paid', enabled: false } } }),
  };
  for (const [how, newest] of Object.entries(withdrawn)) {
    it(`suppress the delivery first if ${how}, even if it is also late and its address suppressed`, () => {
      expect(judged(newest, listed, late)).toMatchObject({ state: 'SUPPRESSED', reason: 'rule_withdrawn' });
    });
  }

  it('expire a late delivery second, even if its address is also suppressed', () => {
    expect(judged(shop(), listed, late)).toMatchObject({ state: 'EXPIRED', reason: 'not_after_passed' });
  });

  it('suppress a delivery to a suppressed address third, even if its channel is also gone, with the reason', () => {
    const verdict = judged(shop({ channels: {} }), listed, 0);
    expect(verdict).toMatchObject({ reason: 'suppressed_address', detail: 'hard_bounce: 550 5.1.1' });
  });

  it('suppress a delivery last if its notification no longer has the channel', () => {
    expect(judged(shop({ channels: {} }), null, 0)).toMatchObject({ reason: 'cannot_send_on_channel' });
  });

  it('compare ids, so that renaming a notification or rule cancels no message', () => {
    const renamed = { ...body, rules: { settled: { ...rule, id: 'rul_paid' } } };
    const newest = configurationOf([notification('order-settled', renamed)]);
    expect(judged(newest, null, 0)).toMatchObject({
      kind: 'go',
      notification: { ref: { name: 'order-settled' } },
    });
  });

  it('ignore a notification of another workspace that has the same id', () => {
    const both = configurationOf(orderShop({ ...body, name: 'ours' }), orderShop({ ...body, name: 'theirs' }, 'zebra'));
    expect(findNotification(both, delivery.slot)?.body.name).toBe('ours');
    const theirs = configurationOf(orderShop(body, 'zebra'));
    expect(judged(theirs, null, 0)).toMatchObject({ reason: 'rule_withdrawn' });
  });
});

describe('the provider accounts that a notification uses', () => {
  const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
  const keysOf = (configuration: Configuration): readonly string[] => {
    const found = findNotification(configuration, delivery.slot);
    return found ? accountsOf(configuration, found, 'email').map(({ key }) => key) : [];
  };
  it('are the named accounts that exist, in their order', () => {
    const channels = { email: { template: 'order-paid', accounts: ['backup', 'gone', 'main'] } };
    const wishes = [
      ...orderShop({ ...body, channels }),
      account('main', smtp),
      account('backup', smtp),
      deployment({ accounts: { email: smtp } }),
    ];
    expect(keysOf(configurationOf(wishes))).toEqual(['shop/backup', 'shop/main']);
    expect(keysOf(configurationOf(wishes.slice(0, 3)))).toEqual([]);
  });
  it('are those of the deployment if the notification names none, or else the sandbox', () => {
    expect(keysOf(shop())).toEqual(['sandbox']);
    expect(keysOf(configurationOf([...orderShop(body), deployment({ accounts: { email: smtp } })]))).toEqual([
      'default',
    ]);
  });
});

describe('the retry settings of a notification', () => {
  it('default to eight attempts within a day, half a minute to four hours apart, and no resend when in doubt', () => {
    expect(deliverySettings(ORDER_PAID)).toEqual({
      retry: { attempts: 8, first: 30_000, max: 14_400_000 },
      inDoubt: 'hold',
      expires: 86_400_000,
    });
    const set = deliverySettings({
      ...ORDER_PAID,
      retry: { attempts: 2, first: '5s', max: '1m' },
      expires: '2h',
      in_doubt: 'drop',
    });
    expect(set).toEqual({ retry: { attempts: 2, first: 5000, max: 60_000 }, inDoubt: 'drop', expires: 7_200_000 });
  });
});
