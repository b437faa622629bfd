import { join } from 'node:path';
import type { RunBody, RunMissingBody } from '@carillon/contracts';
import { cli, startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openShop, order, scratch, shopFiles, shopOf, type Files, type Shop } from './shop.ts';

/* After `restore --cancel-unsent` nothing goes out by itself that the events of the backup cause. What a person sends then goes out. */

const RUNS = '/v1/workspaces/shop/runs';
const RULES = 'workspaces/shop/notifications/order-paid.yaml';

const edited = (): Files => {
  const files = shopFiles();
  return { ...files, [RULES]: (files[RULES] ?? '').replace('event.total > 100', 'event.total > 80') };
};

let opened: Shop & { close(): Promise<void> };
let place: Awaited<ReturnType<typeof scratch>>;
let shop: Shop;
beforeAll(async () => {
  place = await scratch();
  opened = await openShop();
  await opened.judged(await opened.send(order('A-1', { total: 90 })));
  const backup = join(place.folder, 'shop.backup');
  expect(await opened.run(['backup', backup])).toMatchObject({ code: 0 });
  await opened.product.kill('SIGTERM');
  const dataDir = join(place.folder, 'restored');
  expect(await cli(['restore', backup, '--no-erasures', '--cancel-unsent'], { dataDir })).toMatchObject({ code: 0 });
  shop = shopOf(await startProduct({ dataDir }), place.folder, dataDir, opened.key);
});
afterAll(async () => {
  await shop.product.kill('SIGKILL');
  await opened.close();
  await place.remove();
});

it('messages of a sending job are sent after a restore that cancelled unsent messages', async () => {
  const { body: started } = await shop.api<RunBody>('POST', RUNS, { folder: { files: edited(), prune: false } });
  await untilFound('the comparison is done', async () => {
    const { body } = await shop.api<RunBody>('GET', `${RUNS}/${started.id}`);
    return body.state === 'done' ? body : undefined;
  });
  await shop.apply(edited());
  const { body: look } = await shop.api<RunMissingBody>('GET', `${RUNS}/${started.id}/missing`);
  expect(look).toMatchObject({ count: 1, people: 1 });
  const { count, checksum, since } = look;
  const sent = await shop.run([
    'replay',
    'send',
    started.id,
    '--count',
    String(count),
    '--checksum',
    checksum,
    '--since',
    since,
  ]);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  const delivery = await untilFound('the message is sent', async () => {
    const [found] = await shop.deliveries();
    return found?.state === 'SENT' || found?.state === 'CANCELLED' ? found : undefined;
  });
  expect(delivery).toMatchObject({
    state: 'SENT',
    to: 'ada@example.com',
    sent_by: { person: 'owner', run: started.id },
  });
  const trace = await shop.run(['trace', delivery.id]);
  expect(trace.stdout).toMatch(new RegExp(`sent by owner in job_\\w+ of ${started.id}`));
});
