import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { launchProduct, startProduct, startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { openShop, order, scratch, shopFiles, shopOf, smtpDeployment, type Shop } from './shop.ts';

/** The product gives itself 14.5 s (docs/cluster.md); the rest is for a machine that is busy. */
const ENDS_WITHIN = 60_000;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function shopBehind(smtp: ScriptedSmtp): Promise<Shop> {
  ends.push(() => smtp.stop());
  const shop = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
  ends.push(() => shop.close());
  return shop;
}

async function again(shop: Shop): Promise<Shop> {
  const product = await startProduct({ dataDir: shop.dataDir });
  ends.push(async () => void (await product.kill('SIGKILL')));
  return shopOf(product, shop.folder, shop.dataDir, shop.key);
}

describe('SIGTERM', () => {
  it('with calls under way and requests coming in: code 0 in time, each accepted event sent once', async () => {
    const smtp = await startScriptedSmtp({
      script: ({ stage }) => (stage === 'dot' ? { say: '250 2.0.0 taken', after: 400 } : undefined),
    });
    const shop = await shopBehind(smtp);
    const accepted: string[] = [];
    let answers = 0;
    const senders = Array.from({ length: 4 }, async (_, sender) => {
      for (let at = 0; at < 400; at += 1) {
        const event = order(`${sender}-${at}`, { email: `to-${sender}-${at}@example.com` });
        const answer = await shop.post('shop/orders', event).catch(() => undefined);
        if (answer === undefined) return;
        answers += 1;
        if (answer.status === 202) accepted.push(answer.body.id);
        else expect(answer).toMatchObject({ status: 503, body: { code: 'stopping' } });
      }
    });
    await untilFound('mail under way', () => (smtp.accepted.length >= 3 && accepted.length >= 20 ? true : undefined));
    const began = performance.now();
    expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(ENDS_WITHIN);
    await Promise.all(senders);
    expect(answers).toBeGreaterThanOrEqual(accepted.length);
    expect(shop.product.stderr()).toBe('');

    smtp.follow(() => undefined);
    const later = await again(shop);
    await untilFound('every delivery at its end', async () => {
      const open = (await later.api<{ deliveries: Record<string, number> }>('GET', '/v1/status')).body.deliveries;
      const sent = open['SENT'] ?? 0;
      return sent + (open['IN_DOUBT'] ?? 0) >= accepted.length ? true : undefined;
    });
    const { body } = await later.api<{ deliveries: Record<string, number> }>('GET', '/v1/status');
    // A call that could end, ended: a stop in time leaves no doubts.
    expect(body.deliveries).toEqual({ SENT: accepted.length });
    const told = smtp.accepted.flatMap((mail) => mail.to);
    expect(new Set(told).size).toBe(told.length);
    expect(told).toHaveLength(accepted.length);
  });

  it('with a provider that never answers: code 0 all the same in time, and the call is a doubt', async () => {
    const smtp = await startScriptedSmtp({ script: ({ stage }) => (stage === 'dot' ? { ending: 'hang' } : undefined) });
    const shop = await shopBehind(smtp);
    const event = await shop.send(order('hang-1'));
    await untilFound('the call', () => (smtp.accepted.length === 1 ? true : undefined));
    const began = performance.now();
    expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(ENDS_WITHIN);
    smtp.follow(() => undefined);
    const later = await again(shop);
    await later.delivered(event, 'IN_DOUBT');
    expect(smtp.accepted).toHaveLength(1);
  });

  it('a second one ends the process at once', async () => {
    const smtp = await startScriptedSmtp({ script: ({ stage }) => (stage === 'dot' ? { ending: 'hang' } : undefined) });
    const shop = await shopBehind(smtp);
    await shop.send(order('twice-1'));
    await untilFound('the call', () => (smtp.accepted.length === 1 ? true : undefined));
    const { pid, exited, gatewayUrl } = shop.product;
    process.kill(pid, 'SIGTERM');
    await untilFound('that it stops', async () => {
      const answer = await fetch(`${gatewayUrl}/readyz`).catch(() => undefined);
      return answer?.status === 200 ? undefined : true;
    });
    process.kill(pid, 'SIGTERM');
    // One that waited for the call would end well, with code 0.
    expect((await exited).code).toBe(1);
  });

  it('while it starts, or in the moment it is ready: code 0, and one file is left', async () => {
    const { folder, remove } = await scratch();
    ends.push(remove);
    const launched = launchProduct({ dataDir: join(folder, 'data') });
    await untilFound('the data folder', () =>
      existsSync(join(folder, 'data', 'carillon.lock.json')) ? true : undefined,
    );
    expect(await launched.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const product = await startProduct({ dataDir: join(folder, 'data') });
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(readdirSync(join(folder, 'data')).filter((name) => /-wal|-shm|lock\.json/.test(name))).toEqual([]);
  });
});
