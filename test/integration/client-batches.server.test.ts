import { createClient } from '@carillon/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareFixture, type Fixture } from '../../apps/gateway/test/gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterAll(() => fixture.stopGateways());

it('sendBatch appends each event once through a real gateway, however often it is called', async () => {
  const gateway = await fixture.start();
  const client = createClient({ url: gateway.address, credential: fixture.keys.backend });
  const events = Array.from({ length: 1500 }, (_, n) =>
    n === 1200 ? { text: 'x'.repeat(300 * 1024) } : { n, name: 'Zoë' },
  );
  const first = await client.sendBatch('shop/orders', events, { key: 'import' });
  const again = await client.sendBatch('shop/orders', events, { key: 'import' });
  expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  expect(first[1200]?.error).toMatchObject({ status: 413, code: 'body_too_large', mayPass: false });
  const written = new Map((await fixture.records()).map(({ headers, value }) => [headers['event_id'], value]));
  expect(written.size).toBe(1499);
  for (const [at, { id }] of first.entries()) {
    if (id !== undefined) expect(new TextDecoder().decode(written.get(id))).toBe(JSON.stringify(events[at]));
  }
});
