import type { NotificationBody } from '@carillon/domain/configuration';
import { workspaceSettings } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDelivery } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

const HOUR = 3_600_000;

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

/** The time in UTC so many hours from now, as files have it. */
const inHours = (hours: number): string =>
  new Date(under.topology.clock.now() + hours * HOUR).toISOString().slice(11, 16);
const night = (hours: number) => ({ from: inHours(-1), to: inHours(hours) });
const sleeping = (hours: number): Partial<NotificationBody> => ({ cadence: { quiet_hours: night(hours) } });
const limited = (max: number): Partial<NotificationBody> => ({
  cadence: { limits: [{ max, per: '1d', then: 'hold' }] },
});

const held = (order: string, reason: string) =>
  untilFound(`${order} is held`, async () =>
    (await under.deliveries()).find((one) => one.slot.uniqueId === order && one.reason === reason),
  );
const order = (name: string) =>
  under.topology.event(
    { status: 'paid', order_id: name, customer: { email: 'ada@example.com', name: 'Ada' } },
    { stream: 'shop/orders' },
  );

describe('a message that is held, after the configuration changed', () => {
  it('is sent soon after its quiet hours were removed', async () => {
    await under.shop({ expires: '24h', ...sleeping(6) });
    await under.start();
    await order('A-1');
    await held('A-1', 'held_by_quiet_hours');
    await under.change({ expires: '24h' });
    await under.reaches('SENT', 'A-1');
  });

  it('waits until the new end of shortened quiet hours, and says so', async () => {
    // What is three hours from now is asked for twice.
    under.topology.clock.standStill();
    await under.shop({ expires: '24h', ...sleeping(6) });
    await under.start();
    await order('A-1');
    const { nextAt } = await held('A-1', 'held_by_quiet_hours');
    await under.change({ expires: '24h', ...sleeping(3) });
    const sooner = await untilFound('a nearer end', async () =>
      (await under.deliveries()).find((one) => (one.nextAt ?? 0) < (nextAt ?? 0)),
    );
    expect(sooner).toMatchObject({ state: 'WAITING', reason: 'held_by_quiet_hours', nextAt: (nextAt ?? 0) - 3 * HOUR });
    expect(sooner.detail).toContain(`until ${new Date(sooner.nextAt ?? 0).toISOString().slice(0, 10)} ${inHours(3)}`);
    under.topology.clock.pass(3 * HOUR);
    await under.reaches('SENT', 'A-1');
  });

  it('is sent soon after the quiet hours of its workspace were removed', async () => {
    await under.shop({ expires: '24h' });
    await under.topology.publish(workspaceSettings({ cadence: { quiet_hours: night(6) } }));
    await under.start();
    await order('A-1');
    await held('A-1', 'held_by_quiet_hours');
    await under.topology.publish(workspaceSettings({}));
    await under.reaches('SENT', 'A-1');
  });

  it('is sent soon after its limit was raised, up to the new limit', async () => {
    await under.shop({ expires: '72h', ...limited(1) });
    await under.start();
    for (const name of ['A-1', 'A-2', 'A-3']) {
      await order(name);
      await (name === 'A-1' ? under.reaches('SENT', name) : held(name, 'held_by_limit'));
    }
    await under.change({ expires: '72h', ...limited(2) });
    await untilFound('a second one', () => under.mail.accepted.length === 2 || undefined);
    await held(under.mail.accepted.some(({ raw }) => raw.includes('A-2')) ? 'A-3' : 'A-2', 'held_by_limit');
    expect(under.mail.accepted).toHaveLength(2);
  });

  it('is dropped if the notification no longer uses its channel', async () => {
    await under.shop({ expires: '24h', ...sleeping(6) });
    await under.start();
    await order('A-1');
    await held('A-1', 'held_by_quiet_hours');
    await under.change({ expires: '24h', ...sleeping(6), channels: { sms: { template: 'order-paid' } } });
    expect(await under.reaches('SUPPRESSED', 'A-1')).toMatchObject({ reason: 'cannot_send_on_channel' });
  });

  it('is not checked after an unrelated change, and a start checks only changes since the last stop', async () => {
    await under.shop({ expires: '24h', ...sleeping(6) });
    await under.start();
    await order('A-1');
    await held('A-1', 'held_by_quiet_hours');
    const remembered = async (number: number) =>
      untilFound('the change was looked through', async () => {
        const checkpoint = await under.topology.data.checkpoints.load('waiting', 'carillon.config', 0);
        return checkpoint?.configNumber === number || undefined;
      });
    const { configuration, ledger } = under.ports;
    await remembered(configuration.current().number);
    await under.stop();

    const read: string[] = [];
    const watched = {
      ...ledger,
      waiting: (...asked: Parameters<typeof ledger.waiting>) => {
        read.push(asked[0].notificationId ?? asked[0].workspace);
        return ledger.waiting(...asked);
      },
      list: (...asked: Parameters<typeof ledger.list>) => {
        if (asked[0].states?.includes('WAITING')) read.push('everything');
        return ledger.list(...asked);
      },
    };
    await under.topology.publish(workspaceSettings({ name: 'The shop' }));
    under.role = await startDelivery({ aloneOnStore: true }, { ...under.ports, ledger: watched });
    await remembered(configuration.current().number);
    expect(read).toEqual([]);
    await under.change({ expires: '24h' });
    await under.reaches('SENT', 'A-1');
    expect(read).toEqual(['shop/order-paid']);
  });
});
