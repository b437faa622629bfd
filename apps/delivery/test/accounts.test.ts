import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Configuration } from '@carillon/domain/configuration';
import { providerResult, type AccountChoice, type Delivery, type ProviderVerdict } from '@carillon/domain/deliveries';
import type { ChannelSender, LeaseStore, SenderFactory } from '@carillon/ports';
import type { AccountHold } from '@carillon/stages';
import {
  account,
  configurationOf,
  deployment,
  DeliveryStory,
  givenIds,
  givenIntent,
  MORNING,
  ORDER_PAID,
  orderShop,
  settableClock,
  type Wish,
} from '@carillon/testing/given';
import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
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
let states: (readonly [account: string, state: string, why: string])[];
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
      find: async () => [],
      close: async () => void (one.closed = true),
    };
    return sender;
  },
};

/** The accounts of one process. All of a test share their leases. */
function process(leases: LeaseStore, told: typeof states = states): Accounts {
  const view = { current: () => newest, at: async () => newest, readToEndAt: () => 0, refresh: async () => newest };
  return createAccounts({
    configuration: view,
    secrets: { resolve: async () => password },
    senders: [factory],
    leases,
    ids: givenIds,
    clock,
    trouble: () => undefined,
    state: (key, state, why) => void told.push([key, state, why]),
  });
}

beforeEach(() => {
  newest = shop();
  password = 'first';
  clock = settableClock();
  made = [];
  states = [];
  delivery = new DeliveryStory(givenIntent('first')).delivery;
  accounts = process(createMemoryLeases().connect(createDirectWire()));
});

const route = (of: Delivery = delivery) => accounts.route(of, clock.now())?.key ?? null;
async function hold(choice: AccountChoice, of: Accounts = accounts): Promise<AccountHold> {
  const held = await of.hold(choice);
  if (!held) throw new Error('another process tries it');
  return held;
}
async function call(verdict: ProviderVerdict, code = ''): Promise<void> {
  const choice = accounts.route(delivery, clock.now());
  if (!choice) throw new Error('no account is free');
  (await hold(choice)).release(providerResult(verdict, code, ''));
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

  it('is null for a deleted notification, and so is the retry time', () => {
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
    const first = hold(choice);
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
    (await hold(choice)).release(null);
    expect(route()).toBe('shop/main');
    await call('transient', 'stopped');
    expect(route()).toBe('shop/main');
  });
});

describe('the state of an account', () => {
  it('is reported once when the account refuses us, and once when it accepts messages again', async () => {
    await call('refused_account', '535');
    expect(states).toEqual([['shop/main', 'suspended', '535']]);
    clock.pass(60_000);
    await call('refused_account', '535');
    clock.pass(60_000);
    expect(states).toHaveLength(1);
    await call('accepted');
    expect(states.slice(1)).toEqual([['shop/main', 'good', '']]);
  });

  it('stays suspended where its probe fails in another way', async () => {
    await call('refused_account', '535');
    clock.pass(60_000);
    await call('transient');
    expect(states.map(([, state]) => state)).toEqual(['suspended']);
  });

  it('is failing once its breaker opens', async () => {
    for (let index = 0; index < 10; index += 1) await call('transient');
    expect(states).toEqual([['shop/main', 'failing', '']]);
  });

  it('sends one message a minute to an account that refuses us, and the others over the backup', async () => {
    await call('refused_account');
    const routed: (string | null)[] = [];
    for (let second = 0; second < 180; second += 1) {
      routed.push(route());
      if (routed.at(-1) === 'shop/main') await call('refused_account');
      clock.pass(1000);
    }
    expect(routed.filter((key) => key === 'shop/main')).toHaveLength(2);
    expect(routed.filter((key) => key === 'shop/backup')).toHaveLength(178);
  });
});

describe('an account that rests, of several processes', () => {
  const PROCESSES = 4;
  let processes: Accounts[];
  let leases: LeaseStore;
  beforeEach(() => {
    const only = { email: { template: 'order-paid', accounts: ['main'] } };
    newest = configurationOf([...orderShop({ ...ORDER_PAID, id: 'ntf_paid', channels: only }), account('main', smtp)]);
    leases = createMemoryLeases().connect(createDirectWire());
    processes = Array.from({ length: PROCESSES }, () => process(leases));
  });
  const choiceOf = (of: Accounts) => of.route(delivery, clock.now());

  /** Each process calls whenever it may, once a second; answers which of them called when. */
  async function goOn(seconds: number, verdict: ProviderVerdict): Promise<{ second: number; who: number }[]> {
    const called: { second: number; who: number }[] = [];
    for (let second = 0; second < seconds; second += 1) {
      for (const [who, one] of processes.entries()) {
        const choice = choiceOf(one);
        const held = choice && (await one.hold(choice));
        if (!held) continue;
        called.push({ second, who });
        held.release(providerResult(verdict, '', ''));
      }
      // What is written about the probe is not waited for.
      await new Promise((done) => setImmediate(done));
      clock.pass(1000);
    }
    return called;
  }

  it('is tried once a minute by all of them together while it refuses us', async () => {
    const [found, tried] = [await goOn(1, 'refused_account'), await goOn(600, 'refused_account')];
    expect(found).toHaveLength(PROCESSES);
    expect(tried.length).toBeGreaterThanOrEqual(6);
    const gaps = tried.slice(1).map(({ second }, at) => second - (tried[at]?.second ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(90);
  });

  it('is used by all of them within 30 s after one process found that it accepts messages again', async () => {
    await goOn(1, 'refused_account');
    await goOn(120, 'refused_account');
    const calls = await goOn(120, 'accepted');
    const firsts = processes.map((_, who) => calls.find((one) => one.who === who)?.second ?? Infinity);
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeLessThanOrEqual(30);
    expect(states.filter(([, state]) => state === 'good')).toHaveLength(PROCESSES);
  });

  it('is tried by another process after the process that tried it last has ended', async () => {
    await goOn(1, 'refused_account');
    const [first] = await goOn(61, 'refused_account');
    processes = processes.filter((_, who) => who !== first?.who);
    expect((await goOn(91, 'accepted')).length).toBeGreaterThan(0);
  });

  it('is tried by another process if the process that held the trial made no call', async () => {
    await goOn(1, 'refused_account');
    clock.pass(60_000);
    const [one, other] = processes;
    const choice = one && choiceOf(one);
    if (!one || !other || !choice) throw new Error('it may be tried');
    const held = await hold(choice, one);
    expect(await other.hold(choice)).toBeNull();
    expect(choiceOf(other)).toBeNull();
    held.release(null);
    clock.pass(30_000);
    expect(await other.hold(choice)).not.toBeNull();
  });

  it('is tried by every process if leases cannot be written, because it would stay unused otherwise', async () => {
    const away = async (): Promise<never> => Promise.reject(new Error('away'));
    processes = [process({ acquire: away, release: away }), process({ acquire: away, release: away })];
    await goOn(1, 'refused_account');
    expect(await goOn(61, 'refused_account')).toHaveLength(2);
  });
});

describe('accounts for SMS', () => {
  const twilio = { kind: 'twilio', account_sid: 'AC01', auth_token: { secret: 'T' }, from: '+4930123' } as const;
  const sms = (to: string): Delivery => {
    const slot = { ...delivery.slot, channel: 'sms' as const };
    return { ...delivery, slot, intent: { ...delivery.intent, slot, to } };
  };
  beforeEach(() => {
    const main = { name: 'main', ...twilio, allow: ['+49'] };
    const rest = { name: 'rest', ...twilio, allow: ['+43', '+1'] };
    newest = shop(deployment({ accounts: { sms: [main, rest] } }));
  });

  it('are chosen by the numbers that they allow before their priority', () => {
    expect(route(sms('+4915112345678'))).toBe('default:sms:main');
    expect(route(sms('+15550100123'))).toBe('default:sms:rest');
    expect(accounts.another(sms('+4915112345678'), 'default:sms:main', clock.now())).toBe(false);
  });

  it('match no account if none allows the number, and then there is no retry time', () => {
    const french = sms('+33123456789');
    expect([route(french), accounts.retryAt(french, clock.now())]).toEqual([null, null]);
    expect(accounts.noneReaches(french)).toBe(true);
    expect(accounts.noneReaches(sms('+43123456789'))).toBe(false);
  });

  it('are others than those for email, each with a breaker of its own', async () => {
    newest = configurationOf(orderShop({ ...ORDER_PAID, id: 'ntf_paid' }));
    expect([route(), route(sms('+4915112345678'))]).toEqual(['sandbox', 'sandbox:sms']);
  });
});

describe('an account', () => {
  it('is opened once for concurrent calls', async () => {
    const choice = accounts.route(delivery, clock.now());
    if (!choice) throw new Error('one is free');
    const holds = await Promise.all(Array.from({ length: 8 }, () => hold(choice)));
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

describe('the query about a delivery in doubt', () => {
  afterEach(() => vi.useRealTimers());

  it('is unavailable if provider, template or secret do not respond within 30 s', async () => {
    vi.useFakeTimers();
    await call('accepted');
    const doubt = { ...delivery, attempts: new DeliveryStory().begins('t1').delivery.attempts };
    const asked = { ...doubt, attempts: doubt.attempts.map((one) => ({ ...one, account: 'shop/main' })) };
    const never = new Promise<never>(() => undefined);
    const { signal } = new AbortController();
    let ended: unknown = 'not yet';
    void accounts.find(asked, 0, () => never, signal).then((found) => (ended = found));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(ended).toBe('not yet');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ended).toBeNull();
  });
});
