import {
  cappedVerdict,
  fateOf,
  fenced,
  decideLimits,
  limitIndexOf,
  limitsMet,
  limitWords,
  together,
  withEntry,
  withFound,
  withoutEntry,
  type FrequencyLimit,
  type SentEntry,
  type SentToPerson,
} from '../../src/cadence/index.ts';
import type { NotificationBody, WorkspaceBody } from '../../src/configuration/index.ts';
import type { Delivery } from '../../src/deliveries/index.ts';
import type { AttemptId, DeliveryId, TriggerId } from '@carillon/kernel';
import { configurationOf, notification, ORDER_PAID, orderShop, workspaceSettings } from '@carillon/testing/given';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = Date.parse('2026-11-22T12:00:00Z');
const ADA = { workspace: 'shop', person: 'ada' };

const entry = (token: string, at = NOON, more: Partial<SentEntry> = {}): SentEntry => ({
  deliveryId: 'dlv_1' as DeliveryId,
  token,
  triggerId: 'trg_1' as TriggerId,
  notificationId: 'ntf_paid',
  category: null,
  channel: 'email',
  at,
  sure: false,
  ...more,
});
const delivery = (state: Delivery['state'], more: Partial<Delivery> = {}): Delivery =>
  ({
    state,
    reason: 'new',
    version: 3,
    token: null,
    attempts: [],
    intent: { triggerId: 'trg_1' },
    ...more,
  }) as Delivery;
const attempt = (token: string, verdict: string | null): Delivery['attempts'][number] =>
  ({ id: 'att_1' as AttemptId, token, result: verdict === null ? null : { verdict } }) as Delivery['attempts'][number];

describe('an entry (one message) in the list that frequency limits keep per person', () => {
  it.each(['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED'] as const)(
    'counts permanently if its delivery is %s',
    (state) => {
      for (const verdict of ['accepted', 'ambiguous', null]) {
        expect(fateOf(entry('a'), delivery(state, { attempts: [attempt('a', verdict)] }), NOON)).toBe('sure');
      }
    },
  );

  it('is removed if its attempt was refused and another was accepted, or if its attempt never began', () => {
    const sent = delivery('SENT', { attempts: [attempt('a', 'transient'), attempt('b', 'accepted')] });
    expect(['a', 'b', 'c'].map((token) => fateOf(entry(token), sent, NOON))).toEqual(['gone', 'sure', 'gone']);
  });

  it('counts as in doubt while nobody knows if its delivery was sent', () => {
    const attempts = [attempt('a', 'ambiguous')];
    expect(fateOf(entry('a', NOON - DAY), delivery('IN_DOUBT', { token: 'a', attempts }), NOON)).toBe('doubt');
  });

  it.each(['SUPPRESSED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const)('is removed if its delivery ended %s', (state) => {
    expect(fateOf(entry('a'), delivery(state), NOON)).toBe('gone');
  });

  it('is checked again later while its delivery is SENDING, or is WAITING and the entry is younger than 30 s', () => {
    const sending = delivery('SENDING', { token: 'a', attempts: [attempt('a', null)] });
    expect(fateOf(entry('a', NOON - DAY), sending, NOON)).toBe('again');
    expect(fateOf(entry('a', NOON - 29_999), delivery('WAITING'), NOON)).toBe('again');
  });

  it('of a WAITING delivery blocks that delivery’s worker first if the entry is 30 s old, or from a clock that is ahead', () => {
    expect(fateOf(entry('a', NOON - 30_000), delivery('WAITING'), NOON)).toBe('fence');
    expect(fateOf(entry('a', NOON + 30_000), delivery('WAITING'), NOON)).toBe('fence');
    expect(fenced(delivery('WAITING'))).toEqual(delivery('WAITING', { version: 4 }));
  });

  it('is removed if its own attempt was refused, even if the delivery is retried', () => {
    for (const verdict of ['transient', 'throttled', 'refused_account', 'refused_recipient']) {
      const again = delivery('SENDING', { token: 'b', attempts: [attempt('a', verdict), attempt('b', null)] });
      expect(fateOf(entry('a'), again, NOON)).toBe('gone');
    }
  });

  it('keeps counting if the result of its own attempt was unknown, even if the delivery is resent or given up', () => {
    for (const verdict of ['ambiguous', null]) {
      const again = delivery('WAITING', { reason: 'in_doubt_resend', attempts: [attempt('a', verdict)] });
      expect(fateOf(entry('a', NOON - DAY), again, NOON)).toBe('doubt');
      const dropped = delivery('FAILED', { reason: 'in_doubt_drop', attempts: [attempt('a', verdict)] });
      expect(fateOf(entry('a'), dropped, NOON)).toBe('doubt');
    }
  });

  it('is removed if an operator marked the delivery as not sent', () => {
    const dismissed = delivery('FAILED', { reason: 'operator_dismiss', attempts: [attempt('a', 'ambiguous')] });
    expect(fateOf(entry('a'), dismissed, NOON)).toBe('gone');
  });

  it('is removed if another message replaced the delivery, or the delivery does not exist', () => {
    const other = delivery('SENT', { intent: { triggerId: 'trg_2' } as Delivery['intent'] });
    expect(fateOf(entry('a'), other, NOON)).toBe('gone');
    expect(fateOf(entry('a'), null, NOON)).toBe('gone');
  });
});

type Cadence<Body extends { cadence?: unknown }> = NonNullable<Body['cadence']>;
const configured = (
  own: Cadence<NotificationBody>,
  common: Cadence<WorkspaceBody>,
  more: Partial<NotificationBody> = {},
) => {
  const wishes = [
    ...orderShop({ ...ORDER_PAID, id: 'ntf_paid', cadence: own, ...more }),
    notification('news', { ...ORDER_PAID, id: 'ntf_news', category: 'marketing' }),
    workspaceSettings({ cadence: common }),
  ];
  return limitIndexOf(configurationOf(wishes), 'shop');
};
const words = (limits: readonly FrequencyLimit[]): readonly string[] => limits.map(limitWords);

describe('the frequency limits that apply to a message', () => {
  const index = configured(
    {
      limits: [
        { max: 1, per: '1d', then: 'drop' },
        { max: 3, per: 'calendar week', channels: ['sms'], then: 'hold' },
      ],
    },
    {
      limits: [
        { max: 2, per: 'calendar day', category: 'marketing', then: 'drop' },
        { max: 5, per: '12h', channel: 'email', then: 'hold' },
      ],
    },
  );

  it('are those of its notification, and those of the workspace that count its channel and category', () => {
    expect(words(limitsMet(index, entry('a')))).toEqual([
      'at most 1 message in 1d of this notification',
      'at most 5 messages in 12h on email',
    ]);
    const news = entry('a', NOON, { notificationId: 'ntf_news', category: 'marketing', channel: 'sms' });
    expect(words(limitsMet(index, news))).toEqual(['at most 2 messages a calendar day of the category marketing']);
  });

  it('are none if the notification is transactional', () => {
    const exempt = configured(
      { limits: [{ max: 1, per: '1d', then: 'drop' }] },
      { limits: [{ max: 1, per: '1d', then: 'drop' }] },
      { transactional: true },
    );
    expect(limitsMet(exempt, entry('a'))).toEqual([]);
  });
});

describe('the list that frequency limits keep per person', () => {
  const index = configured(
    { limits: [{ max: 2, per: '1d', then: 'drop' }] },
    { limits: [{ max: 9, per: 'calendar day', channel: 'sms', then: 'drop' }] },
  );
  const pruning = (revision: string, now = NOON) => ({ index, zone: 'UTC', now, revision });

  it('adds an entry beside those of the same delivery, and drops entries that no limit counts any more', () => {
    const first = withEntry(null, ADA, entry('a'), pruning('r1'));
    expect(first).toEqual({ ...ADA, revision: 'r1', entries: [entry('a')], keptUntil: NOON + DAY + 10_000 });
    const second = withEntry(first, ADA, entry('b', NOON + MINUTE), pruning('r2', NOON + MINUTE));
    expect(second.entries.map(({ token }) => token)).toEqual(['a', 'b']);
    const later = NOON + DAY + 10_000;
    expect(withEntry(second, ADA, entry('c', later), pruning('r3', later)).entries.map(({ token }) => token)).toEqual([
      'b',
      'c',
    ]);
  });

  it('keeps an entry until no time zone counts it, because other messages of the person may use another zone', () => {
    const sms = entry('a', NOON, { channel: 'sms', notificationId: 'ntf_news' });
    // Where clocks are 26 hours ahead it was sent on the 23rd, and where they are as far behind that day ends then.
    const midnight = Date.parse('2026-11-24T00:00:00Z');
    expect(withEntry(null, ADA, sms, pruning('r1')).keptUntil).toBe(midnight + 26 * 3_600_000 + 10_000);
  });

  it('removes only the entry of the given attempt token', () => {
    const both: SentToPerson = { ...ADA, revision: 'r1', entries: [entry('a'), entry('b')], keptUntil: NOON };
    expect(withoutEntry(both, 'a', 'r2')).toEqual({ ...both, revision: 'r2', entries: [entry('b')] });
    expect(withoutEntry(both, 'c', 'r2')).toBeUndefined();
    expect(withoutEntry(null, 'a', 'r2')).toBeUndefined();
  });

  it('marks entries as sent, and removes entries of unsent messages', () => {
    const entries = ['a', 'b', 'c'].map((token) => entry(token));
    const before: SentToPerson = { ...ADA, revision: 'r1', entries, keptUntil: NOON };
    const found = { sure: new Set(['a']), gone: new Set(['b']) };
    expect(withFound(before, found, pruning('r2'))).toMatchObject({
      revision: 'r2',
      entries: [entry('a', NOON, { sure: true }), entry('c')],
    });
  });
});

describe('messages to several devices for one event', () => {
  const [before, limits] = [{ ...ADA, revision: 'r1', keptUntil: NOON }, [1, 2, 4] as const];
  const perDay = (max: number, category: string | null): FrequencyLimit => ({
    counted: { notificationId: null, category, channels: null },
    max,
    per: { rolling: DAY },
    action: 'hold',
  });
  const write = (entries: readonly SentEntry[], all: readonly FrequencyLimit[]) =>
    withFound(
      { ...before, entries },
      { sure: new Set(), gone: new Set() },
      { index: { of: () => all }, zone: 'UTC', now: NOON, revision: 'r2' },
    );

  it('become one entry (the newest) once they are sent; an entry of a possibly unsent message stays', () => {
    const devices = ['a', 'b', 'c'].map((token, at) => entry(token, NOON - at, { sure: token !== 'c' }));
    const sms = entry('d', NOON, { sure: true, channel: 'sms' });
    expect(write([...devices, sms], [perDay(9, null)]).entries.map(({ token }) => token)).toEqual(['a', 'c', 'd']);
  });

  it('fill limits as if each device had its own entry', () => {
    const device = fc.record({
      triggerId: fc.constantFrom('a', 'b', 'c', 'd').map((id) => id as TriggerId),
      category: fc.constantFrom(null, 'news'),
      channel: fc.constantFrom('email' as const, 'sms' as const),
      at: fc.integer({ min: NOON - DAY - MINUTE, max: NOON }),
      sure: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(device, { maxLength: 12 }), fc.nat({ max: DAY }), (devices, later) => {
        const entries = devices.map(({ at, ...more }, nth) => entry(`t${nth}`, at, more));
        const all = limits.flatMap((max) => [perDay(max, null), perDay(max, 'news')]);
        const judge = (known: readonly SentEntry[]) => {
          const next = entry('next', NOON, { triggerId: 'x' as TriggerId, category: 'news' });
          return all.map((one) => ({ ...decideLimits([one], known, next, 'UTC', NOON + later), by: null }));
        };
        expect(judge(write(entries, all).entries)).toEqual(judge(entries));
      }),
    );
  });
});

describe('a message over a frequency limit', () => {
  const limit: FrequencyLimit = {
    counted: { notificationId: null, category: null, channels: null },
    max: 2,
    per: { rolling: DAY },
    action: 'hold',
  };
  const by = Array.from({ length: 12 }, (_, at) => entry(`t${at}`, NOON, { deliveryId: `dlv_${at}` as DeliveryId }));
  const full = { kind: 'full', limit, until: NOON + DAY, by } as const;
  const filled = 'filled by dlv_0, dlv_1, dlv_2, dlv_3, dlv_4, dlv_5, dlv_6, dlv_7, dlv_8, dlv_9 and 2 more';

  it('waits until the limit has room, and states that local time and what fills the limit', () => {
    expect(cappedVerdict(full, { notAfter: NOON + DAY }, 'Europe/Berlin')).toEqual({
      kind: 'wait',
      until: NOON + DAY,
      reason: 'held_by_limit',
      detail: `held until 2026-11-23 13:00 Europe/Berlin by the limit of at most 2 messages in 1d, ${filled}`,
    });
  });

  it('ends at once if the limit has room only after not_after', () => {
    expect(cappedVerdict(full, { notAfter: NOON + DAY - 1 }, 'UTC')).toEqual({
      kind: 'end',
      state: 'SUPPRESSED',
      reason: 'capped',
      detail: `at most 2 messages in 1d, ${filled}; there is room from 2026-11-23 12:00 UTC, when it is too late`,
    });
  });

  it('is dropped if the limit says drop', () => {
    const dropped = { ...full, limit: { ...limit, action: 'drop' } } as const;
    expect(cappedVerdict(dropped, { notAfter: NOON + 9 * DAY }, 'UTC')).toMatchObject({
      kind: 'end',
      reason: 'capped',
    });
  });
});

describe('two copies of the list that frequency limits keep per person', () => {
  const copy = (revision: string, entries: readonly SentEntry[], keptUntil = NOON): SentToPerson => ({
    ...ADA,
    revision,
    entries,
    keptUntil,
  });

  it('are merged, and an entry is marked as sent if either copy marks it', () => {
    const ours = copy('r1', [entry('a'), entry('b')]);
    const theirs = copy('r2', [entry('a', NOON, { sure: true }), entry('c')], NOON + DAY);
    expect(together(ours, theirs)).toMatchObject({
      entries: [entry('a', NOON, { sure: true }), entry('b'), entry('c')],
      keptUntil: NOON + DAY,
    });
    expect(together(ours, theirs)?.revision).not.toBe('r1');
    expect(together(null, theirs)).toEqual(theirs);
  });

  it('need no merge if the other copy adds nothing', () => {
    const ours = copy('r1', [entry('a', NOON, { sure: true }), entry('b')]);
    expect(together(ours, copy('r2', [entry('a')]))).toBeUndefined();
    expect(together(null, copy('r2', []))).toBeUndefined();
  });
});
