import { simulateCadence, type PastMessage, type SimulatedFate, type SimulatedRun } from '../../src/cadence/index.ts';
import type { NotificationBody, WorkspaceBody } from '../../src/configuration/index.ts';
import { runToCompletion, type DeliveryId, type Instant, type TriggerId } from '@carillon/kernel';
import { configurationOf, notification, ORDER_PAID, workspaceSettings } from '@carillon/testing/given';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const MONDAY = Date.parse('2026-11-23T00:00:00Z');
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const PAID = 'ntf_paid';
const at = (days: number, hours: number, minutes = 0): Instant => MONDAY + days * DAY + hours * HOUR + minutes * MINUTE;

let made = 0;
const message = (causedAt: Instant, more: Partial<PastMessage> = {}): PastMessage => {
  const id = `${(made += 1)}`;
  const person = more.person ?? 'ada';
  return {
    deliveryId: `dlv_${id}` as DeliveryId,
    triggerId: `trg_${id}` as TriggerId,
    notificationId: PAID,
    channel: 'email',
    person,
    zone: 'UTC',
    causedAt,
    sendAt: causedAt,
    meets: person,
    ...more,
  };
};

type Cadence = NonNullable<NotificationBody['cadence']>;

function run(
  messages: readonly PastMessage[],
  cadence: Cadence,
  workspace: WorkspaceBody = {},
  more: Partial<NotificationBody> = {},
): SimulatedRun {
  const configuration = configurationOf([
    workspaceSettings(workspace),
    notification('order-paid', { ...ORDER_PAID, id: PAID, expires: '3d', ...more, cadence }),
  ]);
  return runToCompletion(simulateCadence(messages, configuration, 'shop'));
}
const kindsOf = ({ fates }: SimulatedRun): string[] =>
  fates.map((fate) =>
    fate.kind === 'dropped' ? fate.kind : `${fate.kind} ${new Date(fate.at).toISOString().slice(5, 16)}`,
  );

describe('past messages simulated under another cadence', () => {
  it('are sent at once without a cadence, or after the delay', () => {
    expect(kindsOf(run([message(at(0, 10))], {}))).toEqual(['sent 11-23T10:00']);
    expect(kindsOf(run([message(at(0, 10))], { delay: '90m' }))).toEqual(['sent 11-23T11:30']);
    expect(kindsOf(run([message(at(0, 10), { sendAt: at(1, 7) })], { delay: { until: 'event.starts' } }))).toEqual([
      'sent 11-24T07:00',
    ]);
  });

  it('are held until the person’s quiet hours end, or dropped if they expire before', () => {
    const night: Cadence = { quiet_hours: { from: '21:00', to: '08:00' } };
    const two = [message(at(0, 22)), message(at(0, 22), { person: 'bo', zone: 'Asia/Tokyo' })];
    expect(kindsOf(run(two, night))).toEqual(['held 11-24T08:00', 'held 11-23T23:00']);
    const [held] = run([message(at(0, 22))], night).fates;
    expect(held).toMatchObject({ heldBy: ['quiet hours'] });
    expect(run([message(at(0, 22))], night, {}, { expires: '2h' }).fates).toMatchObject([
      { kind: 'dropped', by: 'quiet hours' },
    ]);
  });

  it('are dropped over a limit, and name the messages that fill it; a second device for a trigger counts once', () => {
    const [first, second, third] = [message(at(0, 1)), message(at(0, 2)), message(at(0, 3))];
    const device = message(at(0, 2), { triggerId: first.triggerId });
    const limits: Cadence['limits'] = [{ max: 2, per: '1d', then: 'drop' }];
    const { fates } = run([first, device, second, third], { limits });
    expect(fates.map(({ kind }) => kind)).toEqual(['sent', 'sent', 'sent', 'dropped']);
    expect(fates[3]).toEqual({
      kind: 'dropped',
      at: at(0, 3),
      by: 'at most 2 messages in 1d of this notification',
      filledBy: [first.deliveryId, device.deliveryId, second.deliveryId],
    });
  });

  it('wait until the limit has room, and then until quiet hours end', () => {
    const cadence: Cadence = {
      limits: [{ max: 1, per: 'calendar day', then: 'hold' }],
      quiet_hours: { from: '00:00', to: '08:00' },
    };
    expect(kindsOf(run([message(at(0, 9)), message(at(0, 10)), message(at(0, 11))], cadence))).toEqual([
      'sent 11-23T09:00',
      'held 11-24T08:00',
      'held 11-25T08:00',
    ]);
  });

  it('are collected in digests, and limits count each digest as one message', () => {
    const digest: Cadence['digest'] = { when: 'always', window: { fixed: '1h' }, max_items: 2 };
    const three = [message(at(0, 9)), message(at(0, 9, 30)), message(at(0, 9, 40))];
    const { fates, digests } = run(three, { digest });
    expect(digests).toBe(2);
    expect(fates).toEqual([
      { kind: 'digested', at: at(0, 9, 30), index: 0, limit: null },
      { kind: 'digested', at: at(0, 9, 30), index: 0, limit: null },
      { kind: 'digested', at: at(0, 10, 40), index: 1, limit: null },
    ]);
    const limited = run(three, { digest, limits: [{ max: 1, per: '1d', then: 'drop' }] });
    expect(limited.fates.map(({ kind }) => kind)).toEqual(['digested', 'digested', 'dropped']);
  });

  it('are digested only over a limit, and limits of the workspace count all notifications', () => {
    const cadence: Cadence = { digest: { when: 'over_limit', window: { sliding: '10m', at_most: '15m' } } };
    const workspace: WorkspaceBody = { cadence: { limits: [{ max: 1, per: '1d', then: 'digest' }] } };
    const other = message(at(0, 8), { notificationId: 'ntf_gone' });
    const { fates } = run([message(at(0, 9)), message(at(0, 9, 5)), message(at(0, 9, 12)), other], cadence, workspace);
    const limit = 'at most 1 message in 1d';
    expect(fates).toEqual([
      // The limit holds the digest too, until the message before it counts no more.
      { kind: 'digested', at: at(1, 8), limit, index: 0 },
      { kind: 'digested', at: at(1, 8), limit, index: 0 },
      { kind: 'digested', at: at(1, 8), limit, index: 0 },
      { kind: 'sent', at: at(0, 8), heldBy: [] },
    ]);
  });

  it('are sent without hold or limit if the notification is transactional', () => {
    const cadence: Cadence = {
      quiet_hours: { from: '00:00', to: '23:59' },
      limits: [{ max: 1, per: '1d', then: 'drop' }],
    };
    const { fates } = run([message(at(0, 9)), message(at(0, 9))], cadence, {}, { transactional: true });
    expect(fates.map(({ kind }) => kind)).toEqual(['sent', 'sent']);
  });
});

describe('a simulated week of random messages', () => {
  const times = fc.array(fc.nat(7 * 24 * 60), { minLength: 1, maxLength: 40 });
  const cadence = fc.record({
    limits: fc.tuple(
      fc.record({
        max: fc.integer({ min: 1, max: 4 }),
        per: fc.constantFrom('3h', '1d', 'calendar day'),
        then: fc.constantFrom('drop' as const, 'hold' as const, 'digest' as const),
      }),
    ),
    quiet_hours: fc.constantFrom({ from: '21:00', to: '08:00' }, { from: '12:00', to: '13:00' }),
    digest: fc.constantFrom(
      { when: 'over_limit' as const, window: { fixed: '2h' } },
      { when: 'always' as const, window: { at: ['09:00'] } },
    ),
  });
  const sentAt = (fates: readonly SimulatedFate[]): Instant[] => [
    ...fates.flatMap((fate) => (fate.kind === 'sent' || fate.kind === 'held' ? [fate.at] : [])),
    ...new Map(fates.flatMap((fate) => (fate.kind === 'digested' ? [[fate.index, fate.at] as const] : []))).values(),
  ];

  it('never exceeds a limit or sends in quiet hours, and gives every message an outcome', () => {
    fc.assert(
      fc.property(times, cadence, (minutes, written) => {
        const messages = minutes.map((minute) => message(MONDAY + minute * MINUTE));
        const { fates } = run(messages, written);
        expect(fates.filter(Boolean)).toHaveLength(messages.length);
        const sent = sentAt(fates).toSorted((a, b) => a - b);
        const [limit] = written.limits;
        for (const [index, end] of sent.entries()) {
          const from =
            limit.per === 'calendar day'
              ? Math.floor(end / DAY) * DAY - 1
              : end - (limit.per === '3h' ? 3 * HOUR : DAY);
          expect(sent.slice(0, index + 1).filter((one) => one > from).length).toBeLessThanOrEqual(limit.max);
          const minute = Math.floor((end % DAY) / MINUTE);
          const isQuiet =
            written.quiet_hours.from === '21:00' ? minute >= 21 * 60 || minute < 8 * 60 : minute >= 720 && minute < 780;
          expect(isQuiet).toBe(false);
        }
        for (const [index, fate] of fates.entries())
          expect(fate.at).toBeGreaterThanOrEqual(messages[index]?.causedAt ?? 0);
      }),
      { numRuns: 200 },
    );
  });
});
