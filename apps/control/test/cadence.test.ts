import type { SentEntry } from '@carillon/domain/cadence';
import type { NotificationBody } from '@carillon/domain/configuration';
import type { DeliveryId, TriggerId } from '@carillon/kernel';
import { ORDER_PAID, orderShop, workspaceSettings } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const NOON = Date.parse('2026-11-22T12:00:00.000Z');
const ID = 'dlv_1' as DeliveryId;

let topology: Topology;
let control: Control;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    ...orderShop({
      ...ORDER_PAID,
      id: 'ntf_paid',
      cadence: {
        limits: [{ max: 1, per: '1d', then: 'hold' }],
        quiet_hours: { from: '22:00', to: '07:00' },
      },
    }),
    workspaceSettings({
      time_zone: 'Europe/Berlin',
      cadence: { limits: [{ max: 3, per: 'calendar week', then: 'drop' }] },
    }),
  );
  await as(['read']);
});
afterEach(() => topology.close());

async function as(permissions: readonly Permission[]): Promise<void> {
  const { ports } = topology;
  const opened = await openControl(
    accessOf(personWith('ann', permissions, 'shop')),
    ports as unknown as Partial<ControlPorts>,
  );
  control = opened.control;
}
type Answer = { readonly status: number; readonly body: { readonly channels: unknown } };
async function explain(asked: object): Promise<Answer> {
  const { statusCode, body } = await control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/cadence/explain',
    payload: asked,
  });
  return { status: statusCode, body: JSON.parse(body) as Answer['body'] };
}
const entry = (token: string, more: Partial<SentEntry> = {}): SentEntry => ({
  deliveryId: ID,
  token,
  triggerId: `trg_${token}` as TriggerId,
  notificationId: 'ntf_paid',
  category: null,
  channel: 'email',
  at: NOON,
  sure: true,
  ...more,
});
const sent = (...entries: readonly SentEntry[]): Promise<unknown> =>
  topology.data.limits.replace(
    { workspace: 'shop', person: 'ada@example.com', revision: 'r', entries, keptUntil: NOON + 90_000_000 },
    null,
  );
const ADA = { notification: 'order-paid', person: 'Ada@EXAMPLE.com', at: '2026-11-22T12:00:00Z' };

describe('the cadence preview for a person', () => {
  it('lists no limits for a person without messages', async () => {
    expect(await explain(ADA)).toEqual({
      status: 200,
      body: {
        notification: 'order-paid',
        at: '2026-11-22T12:00:00.000Z',
        time_zone: 'Europe/Berlin',
        transactional: false,
        notes: [],
        channels: [
          {
            channel: 'email',
            verdict: 'sent',
            reason: null,
            until: null,
            quiet_hours: null,
            limits: [
              expect.objectContaining({
                limit: 'at most 1 message in 1d of this notification',
                count: 0,
                room_from: null,
              }),
              expect.objectContaining({ limit: 'at most 3 messages a calendar week', count: 0, filled_by: [] }),
            ],
          },
        ],
      },
    });
  });

  it('shows a limit with its count, the messages that fill it, and when there is room', async () => {
    await sent(entry('a'));
    const { body } = await explain({ ...ADA, at: '2026-11-22T13:00:00Z' });
    expect(body.channels).toMatchObject([
      {
        verdict: 'held',
        until: '2026-11-23T12:00:00.000Z',
        limits: [
          { count: 1, under_way: 0, filled_by: [ID], room_from: '2026-11-23T12:00:00.000Z' },
          { count: 1, room_from: null },
        ],
      },
    ]);
  });

  it('shows quiet hours in the time zone of the person, at a given time and in another zone', async () => {
    const night = { ...ADA, at: '2026-11-22T22:00:00Z' };
    expect((await explain(night)).body.channels).toMatchObject([
      {
        verdict: 'held',
        until: '2026-11-23T06:00:00.000Z',
        quiet_hours: { then: 'hold', until: '2026-11-23T06:00:00.000Z' },
      },
    ]);
    expect((await explain({ ...night, time_zone: 'America/New_York' })).body.channels).toMatchObject([
      { verdict: 'sent', quiet_hours: null },
    ]);
  });

  const publish = (more: Partial<NotificationBody>) =>
    topology.publish(...orderShop({ ...ORDER_PAID, id: 'ntf_paid', ...more }));
  const verdictAt = async (at: string) => {
    const { body } = await explain({ ...ADA, at });
    return (body.channels as readonly { verdict: string; reason: string | null; until: string | null }[]).map(
      ({ verdict, reason, until }) => [verdict, reason, until],
    );
  };

  it('drops the message at once if quiet hours or a limit end after the message expires', async () => {
    await publish({ expires: '2h', cadence: { quiet_hours: { from: '22:00', to: '07:00' } } });
    expect(await verdictAt('2026-11-22T22:00:00Z')).toEqual([['dropped', 'quiet_hours', null]]);
    expect(await verdictAt('2026-11-23T04:00:00Z')).toEqual([['held', null, '2026-11-23T06:00:00.000Z']]);
    await publish({ expires: '2h', cadence: { limits: [{ max: 1, per: '1d', then: 'hold' }] } });
    await sent(entry('a'));
    expect(await verdictAt('2026-11-22T13:00:00Z')).toEqual([['dropped', 'capped', null]]);
    expect(await verdictAt('2026-11-23T10:00:00Z')).toEqual([['held', null, '2026-11-23T12:00:00.000Z']]);
  });

  it('shows quiet hours too if a limit has room only during them', async () => {
    const limits = [{ max: 1, per: '1d', then: 'hold' as const }];
    await publish({ expires: '48h', cadence: { limits, quiet_hours: { from: '12:00', to: '18:00' } } });
    await sent(entry('a'));
    expect(await verdictAt('2026-11-22T20:00:00Z')).toEqual([['held', null, '2026-11-23T17:00:00.000Z']]);
    await publish({ expires: '20h', cadence: { limits, quiet_hours: { from: '12:00', to: '18:00' } } });
    expect(await verdictAt('2026-11-22T20:00:00Z')).toEqual([['dropped', 'quiet_hours', null]]);
    await publish({ cadence: { limits, quiet_hours: { from: '12:00', to: '18:00', then: 'drop' } } });
    expect(await verdictAt('2026-11-22T20:00:00Z')).toEqual([['dropped', 'quiet_hours', null]]);
  });

  it('shows that the notification or all its rules are switched off', async () => {
    await publish({ enabled: false });
    expect(await verdictAt('2026-11-22T12:00:00Z')).toEqual([['dropped', 'rule_withdrawn', null]]);
    const rules = Object.entries(ORDER_PAID.rules).map(([name, rule]) => [name, { ...rule, enabled: false }] as const);
    await publish({ rules: Object.fromEntries(rules) });
    expect(await verdictAt('2026-11-22T12:00:00Z')).toEqual([['dropped', 'rule_withdrawn', null]]);
  });

  it('shows a digest, always or over the limit', async () => {
    const limits = [{ max: 1, per: '1d', then: 'digest' as const }];
    const digested = (when: 'always' | 'over_limit') =>
      topology.publish(
        ...orderShop({ ...ORDER_PAID, id: 'ntf_paid', cadence: { limits, digest: { when, window: { fixed: '1h' } } } }),
      );
    await digested('over_limit');
    expect((await explain(ADA)).body.channels).toMatchObject([{ verdict: 'sent' }]);
    await sent(entry('a'));
    expect((await explain(ADA)).body.channels).toMatchObject([{ verdict: 'collected', until: null }]);
    await digested('always');
    expect((await explain({ ...ADA, person: 'bob' })).body.channels).toMatchObject([{ verdict: 'collected' }]);
  });

  it('ignores a slot reserved by a dead process, and writes nothing', async () => {
    await sent(entry('a', { sure: false }));
    expect((await explain(ADA)).body.channels).toMatchObject([
      { verdict: 'sent', limits: [{ count: 0 }, { count: 0 }] },
    ]);
    expect((await topology.data.limits.find('shop', 'ada@example.com'))?.entries).toHaveLength(1);
  });

  it('names a notification or field that does not exist, and refuses callers without read permission', async () => {
    expect(await explain({ ...ADA, notification: 'order-payd' })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('order-paid') as string },
    });
    expect(await explain({ ...ADA, time_zone: 'Mars/Olympus' })).toMatchObject({
      status: 400,
      body: { pointer: '/time_zone' },
    });
    expect(await explain({ ...ADA, at: 'soon' })).toMatchObject({ status: 400, body: { pointer: '/at' } });
    await as(['operate']);
    expect((await explain(ADA)).status).toBe(403);
  });
});
