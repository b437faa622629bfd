import { once } from 'node:events';
import { connect } from 'node:net';
import { cutOffName, minuteOf } from '@carillon/domain/intake';
import type { KeyUse } from '@carillon/ports';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { post, prepareFixture, SILENT_TELEMETRY, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(async () => {
  fixture.configuration.readToEndAt = () => Date.now();
  await fixture.stopGateways();
});

const keyIdOf = (key: string): string => key.slice(4, 12);
/** A store that says what it was told, and can be away. */
function recordingStore() {
  const told: (readonly KeyUse[])[] = [];
  const store = {
    away: false,
    record: async (uses: readonly KeyUse[]) => {
      if (store.away) throw new Error('the store is away');
      told.push(uses);
    },
  };
  return { store, told };
}
const clockAt = () => {
  const clock = { at: Date.now(), now: () => clock.at };
  fixture.configuration.readToEndAt = () => clock.at;
  return clock;
};

test('a use is kept in the real store, soon after', async () => {
  const before = Date.now();
  const gateway = await fixture.start({ tellUsesEvery: 20 });
  await post(gateway, 'shop/orders', fixture.keys.backend);
  const keyId = keyIdOf(fixture.keys.backend);
  await expect
    .poll(async () => (await fixture.backend.keyUses.lastUses([keyId])).get(keyId))
    .toBeGreaterThanOrEqual(before);
});

test('the gateway stores the use of a key at most once a minute, and uses of several keys together', async () => {
  const clock = clockAt();
  const { store, told } = recordingStore();
  const gateway = await fixture.start({ tellUsesEvery: 20 }, { keyUses: store, clock });
  const use = async (): Promise<void> => {
    for (let times = 0; times < 5; times += 1) await post(gateway, 'shop/orders', fixture.keys.backend);
    await post(gateway, 'shop/private', fixture.keys.other);
  };
  const first = clock.at;
  await use();
  await expect.poll(() => told.flat().length).toBe(2);
  clock.at += 59_000;
  await use();
  clock.at += 1000;
  await use();
  await expect.poll(() => told.flat().length).toBe(4);
  const mine = told.flat().filter(({ keyId }) => keyId === keyIdOf(fixture.keys.backend));
  expect(mine.map(({ at }) => at - first)).toEqual([0, 60_000]);
});

test('only a key that was let in counts as used', async () => {
  const { store, told } = recordingStore();
  const gateway = await fixture.start({ tellUsesEvery: 20 }, { keyUses: store });
  await post(gateway, 'shop/private', fixture.keys.backend);
  await post(gateway, 'shop/orders', fixture.keys.expired);
  await post(gateway, 'shop/orders', fixture.keys.revoked);
  await post(gateway, 'shop/private', fixture.keys.other);
  await expect.poll(() => told.flat().map(({ keyId }) => keyId)).toEqual([keyIdOf(fixture.keys.other)]);
});

test('an unavailable store of key uses refuses no event, is reported, and gets the uses when it is back', async () => {
  const { store, told } = recordingStore();
  const troubles: string[] = [];
  store.away = true;
  const telemetry = { ...SILENT_TELEMETRY, trouble: (where: string) => void troubles.push(where) };
  const gateway = await fixture.start({ tellUsesEvery: 20 }, { keyUses: store, telemetry });
  expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(202);
  await expect.poll(() => troubles.length).toBeGreaterThan(1);
  expect(troubles[0]).toBe('keep when API keys were used');
  store.away = false;
  await expect.poll(() => told.flat().length).toBe(1);
});

test('pending key uses are stored when the gateway stops', async () => {
  const { store, told } = recordingStore();
  const gateway = await fixture.start({ tellUsesEvery: 3_600_000 }, { keyUses: store });
  await post(gateway, 'shop/orders', fixture.keys.backend);
  expect(told).toEqual([]);
  await gateway.close();
  expect(told.flat()).toHaveLength(1);
});

test('minutes in which the gateway refused clients are stored too, once each', async () => {
  const clock = clockAt();
  const { store, told } = recordingStore();
  const http = { maxConnectionsPerAddress: 1 };
  const gateway = await fixture.start({ tellUsesEvery: 20, http }, { keyUses: store, clock });
  const flood = async (): Promise<void> => {
    for (let times = 0; times < 5; times += 1) await refusedConnection(gateway.port);
  };
  const first = clock.at;
  await flood();
  await expect.poll(() => told.flat()).toEqual([{ keyId: cutOffName('connections', minuteOf(first)), at: first }]);
  clock.at += 60_000;
  await flood();
  const second = { keyId: cutOffName('connections', minuteOf(first) + 1), at: clock.at };
  await expect.poll(() => told.flat().slice(1)).toEqual([second]);
});

/** Resolves when one of two connections of the same address has been closed for the other. */
async function refusedConnection(port: number): Promise<void> {
  const two = [1, 2].map(() => connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' }));
  await Promise.race(two.map((socket) => once(socket.on('error', () => undefined).resume(), 'close')));
  for (const socket of two) socket.destroy();
}
