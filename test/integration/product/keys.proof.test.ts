import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untilFound } from '@carillon/testing';
import { follow } from '../../../apps/control/test/live-fixture.ts';
import { openShop, order, request, shopFiles, type Shop } from './shop.ts';

let shop: Shop & { close(): Promise<void> };
const keys: Record<string, string> = {};
beforeAll(async () => {
  shop = await openShop({
    files: {
      ...shopFiles(),
      'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, next] }\n',
      'workspaces/shop/streams/returns.yaml': 'security: { api_keys: [clerk] }\n',
      'workspaces/club/workspace.yaml': 'name: Club\n',
      'workspaces/club/streams/visits.yaml': 'security: { api_keys: [door] }\n',
    },
  });
  const wanted = { next: 'shop', clerk: 'shop', door: 'club' };
  for (const [name, workspace] of Object.entries(wanted)) keys[name] = await make(workspace, { name });
});
afterAll(() => shop.close());

async function make(workspace: string, body: { readonly name: string; readonly expires_at?: string }): Promise<string> {
  const made = await shop.api<{ key: string }>('POST', `/v1/workspaces/${workspace}/api-keys`, body);
  expect(made.status).toBe(201);
  expect(made.headers.get('cache-control')).toBe('no-store');
  return made.body.key;
}

const post = (path: string, key: string | null, body: unknown = order('K-1')) =>
  request<{ code: string; detail: string }>(`${shop.product.gatewayUrl}/events/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });

describe('Access of API keys to streams', () => {
  it('is limited to the streams of each key: 403 for another stream, 404 for a missing stream', async () => {
    expect(await post('shop/orders', keys['next'] ?? '')).toMatchObject({ status: 202 });
    expect(await post('shop/orders', keys['clerk'] ?? '')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await post('shop/nowhere', keys['clerk'] ?? '')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('gives foreign, missing and malformed keys the same 401 on existing and missing paths', async () => {
    const broken = `${shop.key.slice(0, -1)}${shop.key.endsWith('0') ? '1' : '0'}`;
    const bodies = new Set<string>();
    for (const path of ['shop/orders', 'shop/nowhere', 'nobody/at-all']) {
      for (const key of [keys['door'] ?? '', null, broken, 'cln_x', shop.product.token]) {
        if (path === 'nobody/at-all' && key === null) continue;
        const { status, body, headers } = await post(path, key);
        expect({ path, status }).toEqual({ path, status: 401 });
        expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
        bodies.add(`${body.code} ${body.detail}`);
      }
    }
    // Nothing in the answer tells a stranger what was wrong.
    expect(bodies.size).toBe(1);
  });
});

describe('A key ends', () => {
  it('within two seconds after it was revoked, while the other key of the rotation keeps working', async () => {
    expect(await post('shop/orders', shop.key)).toMatchObject({ status: 202 });
    const revoked = await shop.run(['api-key', 'revoke', 'backend', '--workspace', 'shop']);
    expect(revoked).toMatchObject({ code: 0, stdout: 'backend is revoked\n' });
    const told = performance.now();
    /** When the last event was posted that was still taken. */
    let lastTaken = told;
    await untilFound('a refusal', async () => {
      const at = performance.now();
      const { status } = await post('shop/orders', shop.key);
      if (status === 202) lastTaken = at;
      return status === 401 || undefined;
    });
    expect(lastTaken - told).toBeLessThan(2_000);
    for (let tries = 0; tries < 5; tries += 1) expect((await post('shop/orders', shop.key)).status).toBe(401);
    expect(await post('shop/orders', keys['next'] ?? '')).toMatchObject({ status: 202 });
    // The name is free again, and the stream that names it takes the new key.
    const again = await make('shop', { name: 'backend' });
    expect(await post('shop/orders', again)).toMatchObject({ status: 202 });
    expect((await post('shop/orders', shop.key)).status).toBe(401);
  });

  it('together with its live stream, within two seconds after its token', async () => {
    const wish = { name: 'follower', scopes: ['read'], workspaces: ['shop'] };
    const { body } = await shop.api<{ id: string; token: string }>('POST', '/v1/tokens', wish);
    const stream = await follow(`${shop.product.controlUrl}/v1/workspaces/shop/live?topics=deliveries`, {
      authorization: `Bearer ${body.token}`,
    });
    await untilFound('the stream is open', async () => stream.told[0]?.event === 'open' || undefined);
    await shop.api('DELETE', `/v1/tokens/${body.id}`);
    const told = Date.now();
    const ended = await untilFound('its end', async () => stream.endedAt() ?? undefined);
    expect(ended - told).toBeLessThan(2_000);
  });

  it('at its time, without anybody doing anything', async () => {
    let at = 0;
    let key = '';
    // A machine that stands still for so long sees it end before its first use: then there is one that ends later.
    for (let span = 6_000, status = 0; status !== 202; span *= 3) {
      await shop.run(['api-key', 'revoke', 'next', '--workspace', 'shop']);
      at = Date.now() + span;
      key = await make('shop', { name: 'next', expires_at: new Date(at).toISOString() });
      ({ status } = await untilFound('an answer', async () => {
        const answer = await post('shop/orders', key);
        return answer.body.code === 'configuration_stale' ? undefined : answer;
      }));
      expect(status === 202 || Date.now() >= at, `${status} before its end`).toBe(true);
    }
    await untilFound('a refusal', async () => ((await post('shop/orders', key)).status === 401 ? true : undefined));
    expect(Date.now()).toBeGreaterThanOrEqual(at);
    const past = await shop.run(['api-key', 'list', '--json', '--workspace', 'shop']);
    expect(past.stdout).toContain(new Date(at).toISOString());
  });

  it('after the duration that it was created with; list and doctor show ended keys', async () => {
    const made = await shop.run(['api-key', 'create', 'quarter', '--expires', '90d', '--workspace', 'shop', '--json']);
    const { expires_at: end } = JSON.parse(made.stdout) as { expires_at: string };
    expect(Math.abs(Date.parse(end) - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
    const { stdout } = await shop.run(['api-key', 'list', '--workspace', 'shop']);
    expect(stdout).toMatch(/^next +cln_\w{8}_… +\S+ +expired /m);
    expect(stdout).toMatch(new RegExp(`^quarter +cln_\\w{8}_… +\\S+ +${end.replaceAll('.', '\\.')} +never *$`, 'm'));
    expect((await shop.run(['doctor'])).stdout).toMatch(/FAIL {2}stream orders: API key next expired at/);
  });
});

describe('Two keys of a rotation', () => {
  it('both work, each shows its last use, and the unused key can be revoked', async () => {
    await shop.run(['api-key', 'revoke', 'next', '--workspace', 'shop']);
    const next = await make('shop', { name: 'next' });
    const lastUse = async (name: string): Promise<string | null> => {
      const { body } = await shop.api<{ items: { name: string; last_used_at: string | null; used_by: string[] }[] }>(
        'GET',
        '/v1/workspaces/shop/api-keys',
      );
      const found = body.items.find((one) => one.name === name);
      expect(found?.used_by).toEqual(['stream orders']);
      return found?.last_used_at ?? null;
    };
    expect(await lastUse('next')).toBeNull();
    const before = Date.now();
    expect((await post('shop/orders', next)).status).toBe(202);
    const at = await untilFound('the use is told', async () => (await lastUse('next')) ?? undefined);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now());
    await shop.run(['api-key', 'revoke', 'backend', '--workspace', 'shop']);
    expect((await post('shop/orders', next)).status).toBe(202);
  });
});
