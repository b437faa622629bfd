import type { NotificationBody } from '@carillon/domain/configuration';
import { timesOf } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The times of a notification with these settings of its rule `paid`. */
const timesWith = (rule: Readonly<Record<string, unknown>>, body: Partial<NotificationBody> = {}) =>
  timesOf({ channels: {}, ...body, rules: { paid: { recipients: {}, ...rule } as never } })
    .filter(({ path }) => path[0] !== 'expires')
    .map(({ path, rule: name, duration }) => [path.join('.'), name, duration]);

describe('the durations in a notification’s configuration', () => {
  it('include expires, also its default', () => {
    const expires = (body: Partial<NotificationBody>) => timesOf({ channels: {}, rules: {}, ...body });
    expect(expires({})).toEqual([{ path: ['expires'], rule: null, text: '24h', duration: DAY }]);
    expect(expires({ expires: '3d' })).toMatchObject([{ duration: 3 * DAY }]);
  });

  it('include a delay with a duration', () => {
    expect(timesWith({}, { cadence: { delay: '2h' } })).toEqual([['cadence.delay', null, 2 * HOUR]]);
    expect(timesWith({}, { cadence: { delay: { local_time: '09:00' } } })).toEqual([]);
  });

  it('include the windows and waits of rules with state', () => {
    expect(timesWith({ totals: { failed: { count: 'true', within: '2d' } } })).toEqual([
      ['rules.paid.totals.failed.within', 'paid', 2 * DAY],
    ]);
    expect(timesWith({ totals: { spent: { sum: 'x', within: 'calendar month' } } })).toEqual([
      ['rules.paid.totals.spent.within', 'paid', 31 * DAY + HOUR],
    ]);
    expect(timesWith({ after: '1h', cooldown: '3h' })).toEqual([
      ['rules.paid.after', 'paid', HOUR],
      ['rules.paid.cooldown', 'paid', 3 * HOUR],
    ]);
    expect(timesWith({ after_last: '1h', cooldown: 'until_false' })).toEqual([['rules.paid.after_last', 'paid', HOUR]]);
    expect(timesWith({ at: 'timestamp(event.starts_at)' })).toEqual([['rules.paid.at', 'paid', 366 * DAY]]);
  });
});
