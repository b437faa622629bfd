import type { NotificationBody, WorkspaceBody } from '../../src/configuration/index.ts';
import { HOLDS, presend, type Intent, type PresendVerdict } from '../../src/deliveries/index.ts';
import {
  configurationOf,
  DeliveryStory,
  givenIntent,
  ORDER_PAID,
  orderShop,
  workspaceSettings,
} from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const HOUR = 3_600_000;
const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const body: NotificationBody = { ...ORDER_PAID, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } };
const NIGHT = { from: '22:00', to: '07:00' } as const;

/** A message of 23:30 in Berlin, where nobody says otherwise. */
const AT = Date.parse('2026-11-22T22:30:00Z');
type Asked = Partial<Pick<Intent, 'variables'> & { expires: number; now: number; more: Partial<Intent> }>;
function judged(
  notification: Partial<NotificationBody>,
  shop: WorkspaceBody = {},
  { variables = {}, expires = 24 * HOUR, now = AT, more = {} }: Asked = {},
): PresendVerdict {
  const intent = givenIntent('first', { variables, causedAt: AT, notAfter: AT + expires, ...more });
  const newest = configurationOf([
    ...orderShop({ ...body, ...notification }),
    workspaceSettings({ time_zone: 'Europe/Berlin', ...shop }),
  ]);
  return presend({ delivery: new DeliveryStory(intent).delivery, newest, consents: [], suppressed: null, now });
}

describe('the quiet hours check before a send', () => {
  it('lets a message pass if no quiet hours are set', () => {
    expect(judged({})).toMatchObject({ kind: 'go' });
  });

  it('holds a message until the quiet hours of the notification end in the recipient’s time zone, and records that', () => {
    expect(judged({ cadence: { quiet_hours: NIGHT } })).toEqual({
      kind: 'wait',
      until: Date.parse('2026-11-23T06:00:00Z'),
      reason: 'held_by_quiet_hours',
      detail: 'held by quiet hours until 2026-11-23 07:00 Europe/Berlin',
    });
    const elsewhere = { variables: { time_zone: 'America/New_York' } };
    expect(judged({ cadence: { quiet_hours: NIGHT } }, {}, elsewhere)).toMatchObject({ kind: 'go' });
    const none = { variables: { time_zone: 'Mars/Base' } };
    expect(judged({ cadence: { quiet_hours: NIGHT } }, {}, none)).toMatchObject({ kind: 'wait' });
  });

  it('holds messages of every notification that is not transactional during quiet hours of the workspace', () => {
    expect(judged({}, { cadence: { quiet_hours: NIGHT } })).toMatchObject({ kind: 'wait' });
    expect(judged({ transactional: true }, { cadence: { quiet_hours: NIGHT } })).toMatchObject({ kind: 'go' });
    expect(judged({ transactional: true, cadence: { quiet_hours: NIGHT } })).toMatchObject({ kind: 'go' });
  });

  it('lets a message pass if the quiet hours are for other channels or days', () => {
    expect(judged({ cadence: { quiet_hours: { ...NIGHT, channels: ['sms'] } } })).toMatchObject({ kind: 'go' });
    expect(judged({ cadence: { quiet_hours: { ...NIGHT, days: ['mon'] } } })).toMatchObject({ kind: 'go' });
    expect(judged({ cadence: { quiet_hours: { ...NIGHT, days: ['sun'] } } })).toMatchObject({ kind: 'wait' });
  });

  it('suppresses a message under quiet hours with drop, even if other quiet hours would hold it', () => {
    expect(
      judged({ cadence: { quiet_hours: { ...NIGHT, then: 'drop' } } }, { cadence: { quiet_hours: NIGHT } }),
    ).toMatchObject({ kind: 'end', state: 'SUPPRESSED', reason: 'quiet_hours' });
  });

  it('suppresses a message at once if it could be sent only after not_after', () => {
    expect(judged({ cadence: { quiet_hours: NIGHT } }, {}, { expires: 7 * HOUR })).toMatchObject({
      kind: 'end',
      state: 'SUPPRESSED',
      reason: 'quiet_hours',
      detail: 'quiet hours until 2026-11-23 07:00 Europe/Berlin; then it is too late',
    });
    expect(judged({ cadence: { quiet_hours: NIGHT } }, {}, { expires: 7.5 * HOUR })).toMatchObject({ kind: 'wait' });
  });

  it('holds a message until the later end if quiet hours of notification and workspace touch', () => {
    const morning = { from: '06:00', to: '09:00' };
    expect(judged({ cadence: { quiet_hours: NIGHT } }, { cadence: { quiet_hours: morning } })).toMatchObject({
      until: Date.parse('2026-11-23T08:00:00Z'),
    });
  });

  it('lets a test message pass, because its requester waits for it', () => {
    const test = { more: { ruleId: '', test: { by: 'owner' } } };
    expect(judged({ cadence: { quiet_hours: NIGHT } }, {}, test)).toMatchObject({ kind: 'go' });
    const dropped = { cadence: { quiet_hours: { ...NIGHT, then: 'drop' as const } } };
    expect(judged(dropped, {}, test)).toMatchObject({ kind: 'go' });
    expect(judged({ enabled: false }, {}, test)).toMatchObject({ reason: 'rule_withdrawn' });
  });

  it('comes after the checks for withdrawal, expiry and suppression, so that an unwanted message does not wait', () => {
    expect(judged({ enabled: false, cadence: { quiet_hours: NIGHT } })).toMatchObject({ reason: 'rule_withdrawn' });
    expect(HOLDS.at(-1)?.name).toBe('quietHours');
  });
});
