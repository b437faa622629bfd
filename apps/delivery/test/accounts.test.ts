import { beforeEach, describe, expect, it } from 'vitest';
import { providerResult, type Configuration, type Delivery, type ProviderVerdict } from '@carillon/domain';
import type { ChannelSender, SenderFactory } from '@carillon/ports';
import {
  account,
  configurationOf,
  DeliveryStory,
  givenIntent,
  MORNING,
  ORDER_PAID,
  orderShop,
  settableClock,
  type Wish,
} from '@carillon/testing/given';
import { createAccounts, type Accounts } from '../src/accounts.ts';

const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
const withPassword = { ...smtp, user: 'shop', password: { secret: 'SMTP' } } as const;
const channels = { email: { template: 'order-paid', accounts: ['main', 'backup'] } };
const shop = (...more: readonly Wish[]): Configuration =>
  configurationOf([
    ...orderShop({ ...ORDER_PAID, id: 'ntf_paid', channels }),
    account('main', smtp),
    account('backup', smtp),
    ...more,
  ]);

let newest: Configuration;
let password: string | null;
let clock = settableClock();
let made: { secrets: Readonly<Record<string, string>>; closed: boolean }[];
let accounts: Accounts;
let delivery: Delivery;

/** Opens senders that are never called: it counts how often an account is opened and closed. */
const factory: SenderFactory = {
  kind: 'smtp',
  create(_, secrets) {
    const one = { secrets, closed: false };
    made.push(one);
    const sender: ChannelSender = {
      send: async () => providerResult('accepted', '', ''),
      check: async () => [],
      close: async () => void (one.closed = true),
    };
    return sender;
  },
};

beforeEach(() => {
  newest = shop();
  password = 'first';
  clock = settableClock();
  made = [];
  delivery = new DeliveryStory(givenIntent('first')).delivery;
  const view = { current: () => newest, at: async () => newest, readToEndAt: () => 0, refresh: async () => newest };
  accounts = createAccounts({
    configuration: view,
    secrets: { resolve: async () => password },
    senders: [factory],
    clock,
    trouble: () => undefined,
  });
});

const route = (of: Delivery = delivery) => accounts.route(of, clock.now())?.key ?? null;
async function call(verdict: ProviderVerdict, code = ''): Promise<void> {
  const choice = accounts.route(delivery, clock.now());
  if (!choice) throw new Error('no account is free');
  const hold = await accounts.hold(choice);
  hold.release(providerResult(verdict, code, ''));
}

describe('the next account', () => {
  it('is the first by priority that was not tried and is not shut', async () => {
    expect(route()).toBe('shop/main');
    expect(route({ ...delivery, tried: ['shop/main'] })).toBe('shop/backup');
    expect(route({ ...delivery, tried: ['shop/main', 'shop/backup'] })).toBeNull();
    expect(accounts.another(delivery, 'shop/main', clock.now())).toBe(true);
    expect(accounts.another({ ...delivery, tried: ['shop/backup'] }, 'shop/main', clock.now())).toBe(false);
    await call('refused_account');
    expect(route()).toBe('shop/backup');
  });

  it('is none where the notification is gone, and then there is no time to try again', () => {
    newest = configurationOf([]);
    expect([route(), accounts.retryAt(delivery, clock.now())]).toEqual([null, null]);
  });
});

describe('the breaker of an account', () => {
  beforeEach(() => {
    const only = { email: { template: 'order-paid', accounts: ['main'] } };
    newest = configurationOf([...orderShop({ ...ORDER_PAID, id: 'ntf_paid', channels: only }), account('main', smtp)]);
  });
  const fail = async () => {
    for (let index = 0; index < 10; index += 1) await call('transient');
  };

  it('opens after ten bad calls, says when it may be tried, and closes when a probe goes well', async () => {
    await fail();
    expect(route()).toBeNull();
    expect(accounts.retryAt(delivery, clock.now())).toBe(MORNING + 30_000);
    clock.pass(30_000);
    expect(route()).toBe('shop/main');
    await call('accepted');
    expect(route()).toBe('shop/main');
    await call('transient');
    expect(route()).toBe('shop/main');
  });

  it('lets one probe through, also where many were routed together', async () => {
    await fail();
    clock.pass(30_000);
    const choice = accounts.route(delivery, clock.now());
    if (!choice) throw new Error('it may be tried');
    const first = accounts.hold(choice);
    expect(route()).toBeNull();
    (await first).release(providerResult('transient', '', ''));
    expect(route()).toBeNull();
    clock.pass(30_000);
    expect(route()).toBe('shop/main');
  });

  it.each(['throttled', 'transient', 'ambiguous'] as const)('counts what was %s as bad', async (verdict) => {
    for (let index = 0; index < 10; index += 1) await call(verdict);
    expect(route()).toBeNull();
  });

  it('does not count what is wrong with a message', async () => {
    for (let index = 0; index < 20; index += 1) await call('refused_content');
    expect(route()).toBe('shop/main');
  });

  it('gives the probe back where no call was made', async () => {
    await fail();
    clock.pass(30_000);
    const choice = accounts.route(delivery, clock.now());
    if (!choice) throw new Error('it may be tried');
    (await accounts.hold(choice)).release(null);
    expect(route()).toBe('shop/main');
    await call('transient', 'stopped');
    expect(route()).toBe('shop/main');
  });
});

describe('an account', () => {
  it('is opened once, however many calls begin at once', async () => {
    const choice = accounts.route(delivery, clock.now());
    if (!choice) throw new Error('one is free');
    const holds = await Promise.all(Array.from({ length: 8 }, () => accounts.hold(choice)));
    expect(made).toHaveLength(1);
    expect(new Set(holds.map(({ sender }) => sender)).size).toBe(1);
  });

  it('is opened again when its settings or its password change, and the old one is closed', async () => {
    newest = shop(account('main', withPassword));
    await call('accepted');
    await call('accepted');
    expect(made).toMatchObject([{ secrets: { SMTP: 'first' } }]);
    password = 'second';
    await call('accepted');
    expect(made).toMatchObject([{ closed: true }, { secrets: { SMTP: 'second' }, closed: false }]);
    newest = shop(account('main', { ...withPassword, port: 587 }));
    await call('accepted');
    expect(made).toHaveLength(3);
    await accounts.close();
    expect(made.every(({ closed }) => closed)).toBe(true);
  });
});
