import type { Configuration, NotificationBody, WorkspaceBody } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenRuleBook,
  HOUR,
  MORNING,
  ORDER_PAID,
  orderShop,
  workspaceSettings,
} from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { evaluateEvent } from '../../src/index.ts';

const rule = ORDER_PAID.rules['paid'];
if (!rule || rule.recipients.from !== 'event') throw new Error('there is a rule');
const { recipients } = rule;
type Delay = NonNullable<NonNullable<NotificationBody['cadence']>['delay']>;
const shop = (delay: Delay, settings: WorkspaceBody = {}): Configuration => {
  const paid = { ...rule, recipients: { ...recipients, variables: { time_zone: 'event.zone' } } };
  const body = { ...ORDER_PAID, expires: '2h', cadence: { delay }, rules: { paid } };
  return configurationOf([...orderShop(body), workspaceSettings(settings)]);
};
const PAID = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com' } };
const judged = (configuration: Configuration, body: { readonly [name: string]: Json } = {}) => {
  const [evaluated] = evaluateEvent(givenEvent({ ...PAID, ...body }), configuration, givenRuleBook(), givenIds.derive);
  if (!evaluated) throw new Error('the event has a rule');
  return evaluated;
};
const dueAt = (configuration: Configuration, body = {}) => judged(configuration, body).intents[0];

describe('a message of a notification with a delay', () => {
  it('is due after the delay from the event, and expires later by the same delay', () => {
    expect(dueAt(shop('5h'))).toMatchObject({ sendAt: MORNING + 5 * HOUR, notAfter: MORNING + 7 * HOUR });
  });

  it('is due at the next given local time of the recipient, else of the workspace', () => {
    const berlin = shop({ local_time: '10:30' }, { time_zone: 'Europe/Berlin' });
    const at = (clock: string): number => Date.parse(`${new Date(MORNING).toISOString().slice(0, 10)}T${clock}:00Z`);
    expect(new Date(MORNING).toISOString()).toContain('T08:00');
    expect(dueAt(berlin)?.sendAt).toBe(at('09:30'));
    expect(dueAt(berlin, { zone: 'Europe/London' })?.sendAt).toBe(at('10:30'));
    expect(dueAt(berlin, { zone: 'Mars/Base' })?.sendAt).toBe(at('09:30'));
    expect(dueAt(berlin, { zone: 'Asia/Tokyo' })?.sendAt).toBe(at('01:30') + 24 * HOUR);
  });

  it('uses a time zone named in the event in the same way as templates and quiet hours do', () => {
    const plain = shop({ local_time: '10:30' }, { time_zone: 'Europe/Berlin' });
    expect(dueAt(plain, { zone: null, time_zone: 'Asia/Tokyo' })?.sendAt).toBe(MORNING + 1.5 * HOUR);
    const tokyo = configurationOf([
      ...orderShop({ ...ORDER_PAID, cadence: { delay: { local_time: '10:30' } } }),
      workspaceSettings({ time_zone: 'Europe/Berlin' }),
    ]);
    expect(dueAt(tokyo, { time_zone: 'Asia/Tokyo' })?.sendAt).toBe(MORNING - 6.5 * HOUR + 24 * HOUR);
  });

  it('is due at the time that the event names, as text or timestamp, or at once if that has passed', () => {
    const starts = new Date(MORNING + 3 * HOUR).toISOString();
    expect(dueAt(shop({ until: 'event.starts_at' }), { starts_at: starts })?.sendAt).toBe(MORNING + 3 * HOUR);
    expect(dueAt(shop({ until: 'timestamp(event.starts_at) - duration("1h")' }), { starts_at: starts })?.sendAt).toBe(
      MORNING + 2 * HOUR,
    );
    expect(dueAt(shop({ until: 'event.starts_at' }), { starts_at: '1999-01-01T00:00:00Z' })).toMatchObject({
      sendAt: MORNING,
      notAfter: MORNING + 2 * HOUR,
    });
  });

  it.each([
    ['text that is no time', 'tomorrow', 'is no time'],
    ['null', null, 'is no time'],
    ['a number', 5, 'is no time'],
    ['the year 9999', '9999-12-31T23:59:59Z', 'more than 366 days ahead'],
    ['nothing', undefined, 'cadence.delay.until: '],
  ])('is dropped with a reason if the time in the event is %s', (_what, value, words) => {
    const { intents, outcome } = judged(
      shop({ until: 'event.starts_at' }),
      value === undefined ? {} : { starts_at: value },
    );
    expect(intents).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'fired',
      dropped: [{ reason: 'rule_error', detail: expect.stringContaining(words) as string }],
    });
  });

  it('is due at the same time however often and late the event is evaluated', () => {
    const configuration = shop({ local_time: '10:30' });
    expect(dueAt(configuration)).toEqual(dueAt(configuration));
  });
});
