import { account, notification, ORDER_PAID } from '@carillon/testing/given';
import { startScriptedSmtp, untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const over = (name: string) =>
  notification('order-paid', {
    ...ORDER_PAID,
    channels: { email: { template: 'order-paid', accounts: [name] } },
  });

describe('a delivery that waits for its turn at an account', () => {
  it('is sent over another account after a configuration change, and its result counts for that account', async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const slow = await startScriptedSmtp({ onAccepted: () => held });
    const strict = await startScriptedSmtp({
      script: ({ stage }) => (stage === 'mail' ? '530 5.7.0 log in first' : undefined),
    });
    const at = ({ port }: { readonly port: number }) =>
      ({ kind: 'smtp', host: '127.0.0.1', port, tls: 'none', from: 'shop@example.com', connections: 1 }) as const;
    await under.shop();
    await under.topology.publish(account('slow', at(slow)), account('strict', at(strict)), over('slow'));
    await under.start();
    await under.paid('A-1');
    await untilFound('the one call that the account takes at a time', () => slow.accepted[0]);
    await under.paid('A-2');
    await untilFound('both are in the ledger', async () => (await under.deliveries())[1]);
    await under.looks();
    await under.topology.publish(over('strict'));
    goOn();
    await untilFound('the alert', () => under.alerts[0]);
    expect(under.alerts).toEqual(['shop/strict']);
    expect(slow.accepted).toHaveLength(1);
    await under.stop();
    await slow.stop();
    await strict.stop();
  });
});
