import {
  countedUntil,
  decideLimits,
  type Countable,
  type FrequencyLimit,
  type LimitVerdict,
  type SentEntry,
} from '../../src/cadence/index.ts';
import type { DeliveryId, TriggerId } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const DAY = 86_400_000;
const NOON = Date.parse('2026-11-22T12:00:00Z');
/** What entries are kept beyond what they count, for clocks that are apart. */
const CLOCKS_APART = 10_000;
const EVERYTHING = { notificationId: null, category: null, channels: null };

const limit = (max: number, more: Partial<FrequencyLimit> = {}): FrequencyLimit => ({
  counted: EVERYTHING,
  max,
  per: { rolling: DAY },
  action: 'drop',
  ...more,
});
const message = (trigger: string, more: Partial<Countable> = {}): Countable => ({
  triggerId: trigger as TriggerId,
  notificationId: 'ntf_orders',
  category: 'orders',
  channel: 'email',
  ...more,
});
const sent = (trigger: string, at: number, more: Partial<SentEntry> = {}): SentEntry => ({
  ...message(trigger),
  deliveryId: `dlv_${trigger}` as DeliveryId,
  token: `token of ${trigger}`,
  at,
  sure: true,
  ...more,
});
const judge = (
  limits: readonly FrequencyLimit[],
  entries: readonly SentEntry[],
  now = NOON,
  one = message('now'),
): LimitVerdict => decideLimits(limits, entries, one, 'Europe/Berlin', now);

describe('a frequency limit', () => {
  it('has room below its maximum, and is full at it, with the time when room returns', () => {
    const entries = [sent('a', NOON - 3000), sent('b', NOON - 2000)];
    expect(judge([limit(3)], entries)).toEqual({ kind: 'room' });
    const one = limit(2);
    expect(judge([one], entries)).toEqual({ kind: 'full', limit: one, until: NOON - 3000 + DAY, by: entries });
  });

  it('stops counting a message exactly when its rolling window has passed', () => {
    const entries = [sent('a', NOON - DAY)];
    expect(judge([limit(1)], entries, NOON - 1).kind).toBe('full');
    expect(judge([limit(1)], entries, NOON).kind).toBe('room');
  });

  it('counts calendar days in the recipient’s time zone', () => {
    const daily = [limit(1, { per: { calendar: 'day' } })];
    const entries = [sent('a', Date.parse('2026-11-22T22:59:00Z'))];
    expect(judge(daily, entries, Date.parse('2026-11-22T22:59:59Z'))).toMatchObject({
      kind: 'full',
      until: Date.parse('2026-11-22T23:00:00Z'),
    });
    expect(judge(daily, entries, Date.parse('2026-11-22T23:00:00Z')).kind).toBe('room');
  });

  it('counts several devices of one trigger on one channel as one message, and other channels separately', () => {
    const entries = [sent('a', NOON - 5), sent('a', NOON - 4), sent('a', NOON - 3, { channel: 'sms' })];
    expect(judge([limit(3)], entries).kind).toBe('room');
    expect(judge([limit(2)], entries).kind).toBe('full');
    expect(judge([limit(1, { counted: { ...EVERYTHING, channels: new Set(['email']) } })], [], NOON).kind).toBe('room');
    expect(judge([limit(2)], entries, NOON, message('a')).kind).toBe('room');
  });

  it('counts only messages of its category and channels, and applies only to them', () => {
    const marketing = limit(1, { counted: { ...EVERYTHING, category: 'marketing' } });
    const entries = [sent('a', NOON - 5, { category: 'marketing' })];
    expect(judge([marketing], entries).kind).toBe('room');
    expect(judge([marketing], entries, NOON, message('now', { category: 'marketing' })).kind).toBe('full');
    const sms = limit(1, { counted: { ...EVERYTHING, channels: new Set(['sms']) } });
    expect(judge([sms], [sent('a', NOON - 5)], NOON, message('now', { channel: 'sms' })).kind).toBe('room');
  });

  it('asks to check messages that may be unsent before it counts as full', () => {
    const open = sent('b', NOON - 2000, { sure: false });
    expect(judge([limit(2)], [sent('a', NOON - 3000), open])).toEqual({ kind: 'look', entries: [open] });
    expect(judge([limit(1)], [sent('a', NOON - 3000), open]).kind).toBe('full');
    expect(judge([limit(3)], [sent('a', NOON - 3000), open]).kind).toBe('room');
  });

  it('uses drop before digest and hold if several limits are full, and waits until all have room', () => {
    const entries = [sent('a', NOON - 1000)];
    const held = limit(1, { action: 'hold', per: { rolling: 3 * DAY } });
    const dropped = limit(1, { action: 'drop' });
    expect(judge([held, dropped], entries)).toMatchObject({ limit: dropped, until: NOON - 1000 + 3 * DAY });
  });

  it('returns until when a message counts, so that the stored list can drop expired messages', () => {
    const entries = [sent('old', NOON - DAY), sent('new', NOON - 1), sent('other', NOON - 1, { channel: 'sms' })];
    const emails = limit(1, { counted: { ...EVERYTHING, channels: new Set(['email']) } });
    const kept = entries.filter((entry) => (countedUntil([emails], entry, 'UTC') ?? 0) > NOON + CLOCKS_APART);
    expect(kept.map((entry) => entry.triggerId)).toEqual(['new']);
  });
});

const anyLimit = fc.record({
  counted: fc.record({
    notificationId: fc.constantFrom(null, 'ntf_orders', 'ntf_news'),
    category: fc.constantFrom(null, 'orders', 'marketing'),
    channels: fc.constantFrom(null, new Set(['email'] as const), new Set(['sms', 'push'] as const)),
  }),
  max: fc.integer({ min: 1, max: 4 }),
  per: fc.oneof(
    fc.record({ rolling: fc.integer({ min: 1000, max: 3 * DAY }) }),
    fc.record({ calendar: fc.constantFrom('day' as const, 'week' as const, 'month' as const) }),
  ),
  action: fc.constantFrom('drop' as const, 'hold' as const, 'digest' as const),
});
const arrival = fc.record({
  after: fc.integer({ min: 0, max: DAY }),
  triggerId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h').map((id) => id as TriggerId),
  notificationId: fc.constantFrom('ntf_orders', 'ntf_news'),
  category: fc.constantFrom('orders', 'marketing', null),
  channel: fc.constantFrom('email' as const, 'sms' as const, 'push' as const),
});

const counted = (one: FrequencyLimit, entry: SentEntry): boolean =>
  (one.counted.notificationId === null || one.counted.notificationId === entry.notificationId) &&
  (one.counted.category === null || one.counted.category === entry.category) &&
  (one.counted.channels?.has(entry.channel) ?? true);
const groups = (entries: readonly SentEntry[]): number =>
  new Set(entries.map((entry) => `${entry.channel} ${entry.triggerId}`)).size;

describe('laws of frequency limits', () => {
  it('never allow more messages in a rolling window than the maximum, whatever arrives', () => {
    fc.assert(
      fc.property(
        fc.array(anyLimit, { minLength: 1, maxLength: 3 }),
        fc.array(arrival, { maxLength: 40 }),
        (limits, arrivals) => {
          let [now, entries] = [NOON, [] as SentEntry[]];
          for (const { after, ...one } of arrivals) {
            now += after;
            if (decideLimits(limits, entries, one, 'Europe/Berlin', now).kind !== 'room') continue;
            entries = [...entries, { ...sent(one.triggerId, now), ...one }];
            for (const rule of limits) {
              const per = rule.per;
              if (!('rolling' in per)) continue;
              const within = entries.filter((entry) => counted(rule, entry) && entry.at > now - per.rolling);
              // What it does not count never meets it.
              if (counted(rule, { ...sent('x', now), ...one })) expect(groups(within)).toBeLessThanOrEqual(rule.max);
            }
          }
        },
      ),
    );
  });

  it('give the same result after messages that no limit counts are removed', () => {
    fc.assert(
      fc.property(
        fc.array(anyLimit, { minLength: 1, maxLength: 3 }),
        fc.array(arrival, { maxLength: 20 }),
        arrival,
        (limits, past, { after, ...one }) => {
          let now = NOON;
          const entries = past.map(({ after: span, ...of }): SentEntry => {
            now += span;
            return { ...sent(of.triggerId, now), ...of };
          });
          const kept = entries.filter(
            (entry) => (countedUntil(limits, entry, 'Pacific/Kiritimati') ?? 0) > now + after,
          );
          expect(decideLimits(limits, kept, one, 'Asia/Kathmandu', now + after)).toEqual(
            decideLimits(limits, entries, one, 'Asia/Kathmandu', now + after),
          );
        },
      ),
    );
  });

  it('keep a message that a calendar day counts in any time zone, even if the list is written for another zone', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe'];
    const edges = ['Pacific/Kiritimati', 'Etc/GMT+12', 'Pacific/Apia'];
    const zone = fc.constantFrom(...zones, ...edges);
    fc.assert(
      fc.property(
        zone,
        zone,
        fc.constantFrom('day' as const, 'week' as const, 'month' as const),
        fc.integer({ min: Date.parse('2011-01-01T00:00:00Z'), max: Date.parse('2037-12-31T00:00:00Z') }),
        (reads, writes, calendar, at) => {
          const one = limit(1, { per: { calendar } });
          const [entry, now] = [sent('a', at), message('now')];
          const verdict = decideLimits([one], [entry], now, reads, at);
          if (verdict.kind !== 'full') throw new Error('it counts in the period in which it was sent');
          expect(countedUntil([one], entry, writes)).toBeGreaterThanOrEqual(verdict.until + CLOCKS_APART);
        },
      ),
      {
        numRuns: 1000,
        // The next week has begun in Berlin, and not by UTC.
        examples: [['Europe/Berlin', 'UTC', 'week', Date.parse('2026-11-22T23:30:00Z')]],
      },
    );
  });

  it('have room at the time that a full limit returns, and none just before', () => {
    fc.assert(
      fc.property(
        fc.array(anyLimit, { minLength: 1, maxLength: 3 }),
        fc.array(arrival, { minLength: 5, maxLength: 20 }),
        arrival,
        (limits, past, { after, ...one }) => {
          let now = NOON;
          const entries = past.map(({ after: span, ...of }): SentEntry => {
            now += span;
            return { ...sent(of.triggerId, now), ...of };
          });
          const verdict = decideLimits(limits, entries, one, 'America/New_York', now + after);
          fc.pre(verdict.kind === 'full');
          expect(verdict.until).toBeGreaterThan(now + after);
          expect(decideLimits(limits, entries, one, 'America/New_York', verdict.until).kind).toBe('room');
          expect(decideLimits(limits, entries, one, 'America/New_York', verdict.until - 1).kind).toBe('full');
        },
      ),
    );
  });
});
