import { decide, type Consents } from '@carillon/domain/consent';
import type { CheckpointStore, ConsentStore } from '@carillon/ports';
import { inboundRecord, publishConsents } from '@carillon/stages';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDelivery, type DeliveryPorts, type DeliveryRole } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

const WHO = 'a-1@example.com';

let under: RoleUnderTest;
const roles: DeliveryRole[] = [];
beforeEach(async () => {
  under = await RoleUnderTest.open();
  await under.shop();
});
afterEach(async () => {
  await Promise.all(roles.splice(0).map((role) => role.close()));
  await under.close();
});

/** Ada opted out of everything, the log knows it, and the store was put back to before. */
async function optedOutSinceTheBackup(): Promise<void> {
  const { ids, clock } = under.topology;
  const person = { workspace: 'shop', person: WHO };
  const out = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'page' } as const;
  const document = decide(null, person, [out], { now: clock.now(), derive: ids.derive }) as Consents;
  const lost: ConsentStore = { ...under.topology.data.consents, replace: async () => 'done' };
  await publishConsents([document], { ...under.topology.ports, consents: lost });
}

/** She answered STOP, and the store was put back to before it was carried out. */
async function saidStopSinceTheBackup(): Promise<void> {
  const wish = { source: 'twilio', eventId: 'SM1', address: WHO, wish: 'stop' } as const;
  const { ports, clock } = under.topology;
  await ports.log.append([inboundRecord(wish, 'shop/main', clock.now(), ports)]);
}

/** The stores, of which what learns from the log is slow until the gate opens; and how often the role asked how far it is. */
function slow(): { readonly ports: DeliveryPorts; readonly open: () => void; readonly asked: () => number } {
  const { ports } = under;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let asked = 0;
  const load: CheckpointStore['load'] = (group, topic, partition) => {
    if (topic === 'carillon.consents' || topic === 'carillon.receipts') asked += 1;
    return ports.checkpoints.load(group, topic, partition);
  };
  const { consents, suppressions } = ports;
  return {
    ports: {
      ...ports,
      checkpoints: { ...ports.checkpoints, load },
      consents: {
        ...consents,
        async replace(next) {
          await gate;
          return consents.replace(next);
        },
      },
      suppressions: {
        ...suppressions,
        async add(entry) {
          await gate;
          return suppressions.add(entry);
        },
      },
    },
    open: () => open(),
    asked: () => asked,
  };
}

async function startOver(ports: DeliveryPorts): Promise<DeliveryRole> {
  const role = await startDelivery({ aloneOnStore: true }, ports);
  roles.push(role);
  return role;
}

/** Waits until the message is in custody, and has been sent or held back for a good while. */
async function isSentOrHeldBack(asked: () => number): Promise<void> {
  await untilFound('it is in custody', async () => (await under.deliveries())[0]);
  const before = asked();
  await untilFound('it is sent or held back', async () => {
    const [one] = await under.deliveries();
    return one?.state !== 'WAITING' || asked() >= before + 5 || undefined;
  });
}

describe('A store restored from a backup', () => {
  it.each([
    ['opted out', optedOutSinceTheBackup, 'opted_out'],
    ['said STOP', saidStopSinceTheBackup, 'suppressed_address'],
  ])(
    'sends nothing to a person who %s since the backup, however long reading the log takes',
    async (_, happened, reason) => {
      await happened();
      await under.topology.evaluates();
      await under.paid('A-1');
      const { ports, open, asked } = slow();
      await startOver(ports);
      await isSentOrHeldBack(asked);
      expect(under.sending()).toMatchObject({ ok: false, decides: false });
      expect(under.sending().detail).toContain('begins when 1 records');
      open();
      expect(await under.reaches('SUPPRESSED')).toMatchObject({ reason });
      expect(under.mail.accepted).toEqual([]);
      expect(under.sending()).toMatchObject({ ok: true });
    },
  );

  it('a process that ends before it has read the log leaves the rest to the next, which waits until it is read', async () => {
    await optedOutSinceTheBackup();
    await under.topology.evaluates();
    await under.paid('A-1');
    const broken: DeliveryPorts = {
      ...under.ports,
      consents: { ...under.ports.consents, replace: () => Promise.reject(new Error('the process dies here')) },
    };
    const dying = await startOver(broken);
    await untilFound('it failed', () => under.topology.witness.failures[0] as Error | undefined);
    await dying.close();
    const { ports, open, asked } = slow();
    await startOver(ports);
    await isSentOrHeldBack(asked);
    open();
    expect(await under.reaches('SUPPRESSED')).toMatchObject({ reason: 'opted_out' });
    expect(under.mail.accepted).toEqual([]);
  });

  it('another process that has read the log lets all processes send', async () => {
    await optedOutSinceTheBackup();
    const { ports, open } = slow();
    await startOver(ports);
    expect(under.sending()).toMatchObject({ ok: false });
    const { log, checkpoints } = under.topology.ports;
    const { end } = await log.bounds('carillon.consents', 0);
    const position = { group: 'delivery', topic: 'carillon.consents', partition: 0, logId: log.logId };
    await checkpoints.save({ ...position, next: end, watermark: 0, configNumber: -1 });
    await under.topology.evaluates();
    await under.paid('B-1');
    await under.reaches('SENT', 'B-1').finally(open);
  });
});

describe('A store that has read the whole log', () => {
  it('sending begins at once, and later opt-outs do not delay it', async () => {
    const { ports, open } = slow();
    await startOver(ports);
    expect(under.sending()).toMatchObject({ ok: true });
    await optedOutSinceTheBackup();
    await under.topology.evaluates();
    await under.paid('B-1');
    await under.reaches('SENT', 'B-1').finally(open);
  });
});
