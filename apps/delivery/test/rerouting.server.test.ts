import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SenderFactory } from '@carillon/ports';
import { account } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { startDelivery } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

/** Calls over the accounts of this many connections. */
type Calls = { open: number; most: number; opened: Promise<void> };

/** The senders of the role, each call of which waits for its account to be opened. */
function gated(senders: readonly SenderFactory[], callsOf: (connections: number) => Calls): readonly SenderFactory[] {
  return senders.map((factory) => ({
    ...factory,
    create(settings, secrets, workspace) {
      const sender = factory.create(settings, secrets, workspace);
      const calls = callsOf(settings.kind === 'smtp' ? (settings.connections ?? 5) : 0);
      return {
        check: () => sender.check(),
        close: () => sender.close(),
        async send(message, call) {
          calls.open += 1;
          calls.most = Math.max(calls.most, calls.open);
          await calls.opened;
          return sender.send(message, call).finally(() => (calls.open -= 1));
        },
      };
    },
  }));
}

it('Messages queued for an account that was removed from the notification are sent over the other account, within its connection limit', async () => {
  const open: Record<'main' | 'backup', () => void> = { main: () => undefined, backup: () => undefined };
  const closed = (name: keyof typeof open): Calls => ({
    open: 0,
    most: 0,
    opened: new Promise<void>((resolve) => (open[name] = resolve)),
  });
  const [main, backup] = [closed('main'), closed('backup')];
  await under.shop({}, 'shop', 2);
  const { host, port } = under.mail;
  const reached = { kind: 'smtp', host, port, tls: 'none', from: 'shop@example.com', connections: 1 } as const;
  await under.topology.publish(account('backup', reached));
  const senders = gated(under.ports.senders, (connections) => (connections === 2 ? main : backup));
  const role = await startDelivery({ aloneOnStore: true }, { ...under.ports, senders });
  try {
    await under.topology.evaluates();
    for (let order = 0; order < 6; order += 1) await under.paid(`A-${order}`);
    await untilFound('both places are taken', () => main.open === 2 || undefined);
    await untilFound('all are in custody', async () => (await under.deliveries()).length === 6 || undefined);
    await under.looks();
    await under.change({ channels: { email: { template: 'order-paid', accounts: ['backup'] } } });
    open.main();
    await untilFound('the other account is called', () => backup.open > 0 || undefined);
    await untilFound('the first one is done', async () => {
      const sent = (await under.deliveries()).filter(({ state }) => state === 'SENT');
      return sent.length === 2 || undefined;
    });
    await under.looks();
    const sending = (await under.deliveries()).filter(({ state }) => state === 'SENDING');
    expect(sending).toMatchObject([{ attempts: [{ account: 'shop/backup' }] }]);
    open.backup();
    await untilFound('all are sent', async () => {
      const all = await under.deliveries();
      return all.every(({ state }) => state === 'SENT') || undefined;
    });
    expect([main.most, backup.most]).toEqual([2, 1]);
    expect(under.mail.accepted).toHaveLength(6);
  } finally {
    open.main();
    open.backup();
    await role.close();
  }
});
