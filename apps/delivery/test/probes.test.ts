import { providerResult, type ProviderVerdict } from '@carillon/domain/deliveries';
import { formatInstant } from '@carillon/kernel';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startDelivery, type DeliveryRole } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

const MINUTE = 60_000;

let under: RoleUnderTest;
let role: DeliveryRole;
/** The clock of the role is so far ahead. */
let ahead = 0;
let verdict: ProviderVerdict;
let calls = 0;
beforeEach(async () => {
  [ahead, verdict, calls] = [0, 'refused_account', 0];
  under = await RoleUnderTest.open();
  await under.shop();
  const senders = under.ports.senders.map((factory) => ({
    ...factory,
    create: () => ({
      async send() {
        calls += 1;
        return providerResult(verdict, '', '');
      },
      check: async () => [],
      close: async () => undefined,
    }),
  }));
  const clock = { now: () => Date.now() + ahead };
  role = await startDelivery({ aloneOnStore: true }, { ...under.ports, senders, clock });
  await under.topology.evaluates();
});
afterEach(async () => {
  await role.close();
  await under.close();
});

it('Messages for an account that another process is trying wait, and are sent once that process found it working', async () => {
  await under.paid('A-1');
  const refused = await untilFound('it was refused', async () =>
    (await under.deliveries()).find(({ reason, nextAt }) => reason === 'refused_account' && nextAt !== null),
  );
  const { leases } = under.topology.data;
  // The role took the lease when the account refused it; the other process comes first after that minute.
  const LEASE = 'probe of shop/main';
  await untilFound('the lease is taken', async () => {
    const now = Date.now();
    // For no time at all: it must not be what the role finds taken.
    return !(await leases.acquire(LEASE, 'the other', now, now)) || undefined;
  });
  const then = Date.now() + MINUTE + 1000;
  expect(await leases.acquire(LEASE, 'the other', then, then + 10 * MINUTE)).toBe(true);
  ahead = MINUTE + 1000;
  const waits = await untilFound('it waits on', async () =>
    (await under.deliveries()).find(({ nextAt }) => (nextAt ?? 0) > (refused.nextAt ?? 0) + 10_000),
  );
  expect(calls, `waits until ${formatInstant(waits.nextAt ?? 0)}`).toBe(1);
  verdict = 'accepted';
  await leases.release(LEASE, 'the other');
  ahead += MINUTE / 2 + 1000;
  await under.reaches('SENT');
  expect(calls).toBe(2);
  expect(under.states).toEqual(['shop/main suspended', 'shop/main good']);
});
