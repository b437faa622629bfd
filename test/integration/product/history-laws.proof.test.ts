import { startProduct } from '@carillon/testing';
import { startCluster, startClusterServices } from '@carillon/testing/cluster';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { historyLaw, interleavings, type Ask, type Step } from '../../support/history-law.ts';
import { request, scratch } from './shop.ts';

/** Asks the control roles in turns: what one of them answered counts at the others too. */
function asking(addresses: readonly string[], token: string): Ask {
  let turn = 0;
  return async (method, path, body, more = {}) => {
    const address = addresses[(turn += 1) % addresses.length] ?? '';
    const {
      status,
      headers,
      body: answer,
    } = await request<Record<string, unknown>>(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status, etag: headers.get('etag') ?? '', body: answer };
  };
}

async function holdsOver(ask: Ask, runs: number): Promise<void> {
  const law = historyLaw(ask);
  await law.begin();
  const orders = fc.sample(interleavings(16), { numRuns: runs }) as readonly Step[][][];
  for (const writers of orders) await law.run(writers);
  expect((await law.holds()).acknowledged).toBeGreaterThan(5 * runs);
}

describe('Three writers over 200 templates lose nothing that was acknowledged, and what is exported applies to no change', () => {
  it('on one machine', async () => {
    const { folder, remove } = await scratch();
    const product = await startProduct({ dataDir: folder });
    try {
      await holdsOver(asking([product.controlUrl], product.token), 4);
    } finally {
      await product.kill('SIGTERM');
      await remove();
    }
  }, 900_000);

  it('on a cluster, over two control roles at once', async () => {
    const { folder, remove } = await scratch();
    const services = await startClusterServices();
    const members = { control: 2, gateway: 1, engine: 1, delivery: 1 };
    const cluster = await startCluster({ services, dataDir: folder, members });
    try {
      const addresses = cluster.of('control').map(({ address }) => address);
      await holdsOver(asking(addresses, cluster.token), 3);
    } finally {
      await cluster.stop();
      await services.stop();
      await remove();
    }
  }, 1_200_000);
});
