import { untilFound } from '@carillon/testing/topology';
import { afterEach, expect, it } from 'vitest';
import { startDelivery, type DeliveryRole } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

const ROLES = 4;
const MESSAGES = 1000;
const MOST = 10;

let under: RoleUnderTest;
const others: DeliveryRole[] = [];
afterEach(async () => {
  await Promise.all(others.splice(0).map((role) => role.close()));
  await under.close();
});

/** Messages of one person take turns within a process. Each role has a store to itself, as processes have: no turn is common to them. */
function launch(): Promise<DeliveryRole> {
  const { ports } = under;
  return startDelivery({ aloneOnStore: false }, { ...ports, limits: { ...ports.limits } });
}

it(`sends exactly ${MOST} of ${MESSAGES} messages to one person under a limit of ${MOST}, over ${ROLES} concurrent consumers`, async () => {
  under = await RoleUnderTest.open({ partitions: ROLES });
  const limits = [{ max: MOST, per: '1d', then: 'drop' as const }];
  await under.shop({ cadence: { limits }, retry: { attempts: 3, first: '1s', max: '1s' } }, 'shop', 8);
  await under.start();
  for (let role = 1; role < ROLES; role += 1) others.push(await launch());
  const { topology } = under;
  for (let from = 0; from < MESSAGES; from += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        topology.event(
          { status: 'paid', order_id: `A-${from + at}`, customer: { email: 'ada@example.com', name: 'Ada' } },
          { stream: 'shop/orders' },
        ),
      ),
    );
  }
  const counts = await untilFound(
    'all are told or left out',
    async () => {
      const { SENT = 0, SUPPRESSED = 0, ...rest } = await topology.data.ledger.countByState();
      return SENT + SUPPRESSED === MESSAGES ? { SENT, SUPPRESSED, ...rest } : undefined;
    },
    600_000,
  );
  expect(counts).toMatchObject({ SENT: MOST, SUPPRESSED: MESSAGES - MOST });
  expect(under.mail.accepted).toHaveLength(MOST);
  const capped = await topology.data.ledger.list({ states: ['SUPPRESSED'] }, MESSAGES);
  for (const { reason, detail } of capped.items) {
    expect(reason).toBe('capped');
    expect(detail).toMatch(/^at most 10 messages in 1d of this notification, filled by (?:dlv_\w+, ){9}dlv_\w+$/);
  }
}, 900_000);
