import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, launchProduct, startProduct } from './index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'product-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('The product as a process', () => {
  it('responds at its address, obeys its own commands, and exits with code 0 when asked to stop', async () => {
    const dataDir = join(folder, 'data');
    const product = await startProduct({ dataDir });
    try {
      const answer = await fetch(`${product.controlUrl}/v1/status`, {
        headers: { authorization: `Bearer ${product.token}` },
      });
      expect(answer.status).toBe(200);
      await expect.poll(async () => (await fetch(`${product.gatewayUrl}/readyz`)).status).toBe(200);

      const letters = await cli(['dead-letters', '--json'], { dataDir });
      expect(letters).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(letters.stdout)).toEqual({ items: [], next: null });
    } finally {
      await product.kill('SIGTERM');
    }
    expect(await product.exited).toEqual({ code: 0, signal: null });
  });

  it('reports why it did not start', async () => {
    const dataDir = join(folder, 'data');
    const first = await startProduct({ dataDir });
    try {
      await expect(startProduct({ dataDir })).rejects.toThrow(/held by carillon up/);
    } finally {
      await first.kill('SIGKILL');
    }
  });

  it('can be killed while it starts', async () => {
    const launched = launchProduct({ dataDir: join(folder, 'data') });
    expect(await launched.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(launched.ready).rejects.toThrow(/ended before it was ready/);
  });
});
