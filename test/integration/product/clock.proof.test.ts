import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckBody } from '@carillon/contracts';
import { startLedgerSmtp, startProduct, untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { describeWith, PROGRAMS } from '../../support/requirements.ts';
import { startPosting } from '../cluster/posting.ts';
import { caller, order, scratch, shopFiles, shopOf, smtpDeployment, type Shop } from './shop.ts';

const HOUR = 3600;
const TIMEOUT_MS = 90_000;
/** Calls are under way when the clock is set. */
const SLOW = 200;
const EACH = 15;

/** A mail that the server puts off again and again, of use for half an hour only. */
const ORDER_BRIEF = 'workspaces/shop/notifications/order-brief.yaml';
const brief = (paid = ''): string =>
  paid
    .replace('event.status == "paid" && event.total > 100', 'event.status == "brief"')
    // So often that it still waits when the clock is set, however long that takes.
    .replace('attempts: 3, first: 1h, max: 4h', 'attempts: 100, first: 1s, max: 2s')
    .concat('expires: 30m\n');

/** Seconds that the clock of the product is ahead of everybody else's. */
const setClock = (file: string, ahead: number): void => writeFileSync(file, `+${ahead}\n`);

describeWith('faketime', 'The clock of the machine', () => {
  it(
    'may be set forward and back by an hour while events come in: nothing is lost, and nothing is sent twice',
    async () => {
      const { folder, remove } = await scratch();
      const dataDir = join(folder, 'data');
      const clock = join(folder, 'clock');
      setClock(clock, 0);
      const env = {
        LD_PRELOAD: PROGRAMS.faketime.path,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
      const smtp = await startLedgerSmtp({ file: join(folder, 'mail.jsonl'), latency: SLOW });
      let product = await startProduct({ dataDir, env });
      try {
        const made = await caller(product)<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', {
          name: 'backend',
        });
        const shop = shopOf(product, folder, dataDir, made.body.key);
        const files = shopFiles({ deployment: smtpDeployment(smtp.port) });
        const paid = files['workspaces/shop/notifications/order-paid.yaml'];
        await shop.apply({ ...files, [ORDER_BRIEF]: brief(paid) });
        const accepted = new Map<string, string>();
        const shortLived = await shop.send(order('brief', { status: 'brief', email: 'never-mind@example.com' }));
        await shop.delivered(shortLived, 'WAITING');

        await underLoad(shop, 'forward', accepted, () => turn(shop, clock, HOUR));
        expect(await shop.delivered(shortLived, 'EXPIRED')).toMatchObject({ reason: 'not_after_passed' });
        await underLoad(shop, 'back', accepted, () => turn(shop, clock, 0));

        // A process that starts while what is stored is an hour ahead of it.
        expect(await product.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
        product = await startProduct({ dataDir, env });
        const again = shopOf(product, folder, dataDir, shop.key);
        await underLoad(again, 'restarted', accepted, async () => undefined);
        // What was due by the clock that was ahead is due again when the time has come.
        await turn(again, clock, HOUR + 60);

        await untilFound(
          'every message sent, or in doubt by the kill',
          async () => {
            // Counted, for a list ends after 500.
            const { body } = await again.api<{ deliveries: Record<string, number> }>('GET', '/v1/status');
            return (body.deliveries['SENT'] ?? 0) + (body.deliveries['IN_DOUBT'] ?? 0) >= accepted.size || undefined;
          },
          TIMEOUT_MS,
        );
        const inDoubt = await again.deliveries('&state=IN_DOUBT');
        const told = (await smtp.entries()).map(({ subject }) => subject);
        expect(new Set(told).size).toBe(told.length);
        const doubted = new Set(inDoubt.map(({ unique_id }) => `Order ${unique_id}`));
        expect(
          [...accepted.keys()].map((id) => `Order ${id}`).filter((one) => !told.includes(one) && !doubted.has(one)),
        ).toEqual([]);
        // Five connections were at work when it was killed; the clock alone leaves no doubt.
        expect(inDoubt.length).toBeLessThanOrEqual(5);

        // The same events once more, by the clock that it is now: every slot is remembered.
        const ids = [...accepted].slice(0, EACH);
        for (const [id, event] of ids) expect(await again.send(order(id), { 'idempotency-key': id })).toBe(event);
        const sentinel = await again.send(order('sentinel'));
        await again.delivered(sentinel, 'SENT');
        expect((await smtp.entries()).length).toBe(told.length + 1);
      } finally {
        await product.kill('SIGKILL');
        await smtp.stop();
        await remove();
      }
    },
    TIMEOUT_MS * 4,
  );
});

/** Sets the clock and waits until the product says that time. */
async function turn(shop: Shop, file: string, ahead: number): Promise<void> {
  setClock(file, ahead);
  await untilFound(
    `the product's clock ${ahead} s ahead`,
    async () => {
      const { body } = await shop.api<CheckBody>('POST', '/v1/doctor');
      const said = body.steps.find(({ step }) => step === 'clock')?.detail ?? '';
      const off = Date.parse(said.split(' ')[0] ?? '') / 1000 - Date.now() / 1000 - ahead;
      return Math.abs(off) < HOUR / 2 || undefined;
    },
    TIMEOUT_MS,
  );
}

/** Two clients post before, while and after something happens; what was taken is added by its order id. */
async function underLoad(
  shop: Shop,
  name: string,
  taken: Map<string, string>,
  happens: () => Promise<void>,
): Promise<void> {
  const load = startPosting({ gatewayUrl: shop.product.gatewayUrl, key: shop.key }, { name, clients: 2, every: 40 });
  const reaches = (count: number) =>
    untilFound(`${count} events taken (${name})`, () => load.accepted.size >= count || undefined, TIMEOUT_MS);
  await reaches(EACH);
  await happens();
  await reaches(load.accepted.size + EACH);
  await load.finish();
  for (const [id, event] of load.taken) taken.set(id, event);
}
