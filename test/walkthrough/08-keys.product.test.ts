import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 8. Keys and secrets
 *
 * An API key lets a client send events to the streams that name it, and nothing else. It is shown once, since only a
 * digest of it is stored. A secret is the other way round: a password that Carillon needs, sealed, never shown again.
 */

chapter('8. Keys and secrets', (newHome) => {
  let carillon: Carillon;
  let mobile = '';
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const STREAM = 'carillon-demo/workspaces/shop/streams/orders.yaml';
  const body = JSON.stringify(ORDER);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  it('makes a key, and shows it this once', async () => {
    const made = await carillon.ask<{ name: string; key: string }>(['api-key', 'create', 'warehouse']);
    mobile = made.key;
    expect(mobile).toMatch(/^cln_\w{8}_\w{32}_\w{6}$/);
    const { out } = await carillon.command(['api-key', 'list']);
    expect(out).toContain('warehouse');
    expect(out).not.toContain(mobile);
  });

  it('answers 403 to a valid key on a stream that does not name it', async () => {
    const answer = await carillon.post('shop/orders', body, as(mobile));
    expect(answer).toMatchObject({ status: 403, body: { type: '/docs/errors#forbidden' } });
  });

  it('accepts a key once the stream lists it, and lists two keys during a rotation', async () => {
    await carillon.edit(STREAM, 'api_keys: [backend]', 'api_keys: [backend, warehouse]');
    await carillon.apply();
    expect((await carillon.post('shop/orders', body, as(mobile))).status).toBe(202);
    expect((await carillon.post('shop/orders', body, as(carillon.key))).status).toBe(202);
  });

  it('answers 404 on a missing path to valid keys only, and 401 to others, so that paths cannot be probed', async () => {
    expect((await carillon.post('shop/nowhere', body, as(mobile))).status).toBe(404);
    expect((await carillon.post('shop/nowhere', body, {})).status).toBe(401);
    expect((await carillon.post('shop/orders', body, {})).status).toBe(401);
    const mistyped = `${mobile.slice(0, -1)}${mobile.endsWith('x') ? 'y' : 'x'}`;
    expect((await carillon.post('shop/orders', body, as(mistyped))).status).toBe(401);
  });

  it('refuses a revoked key everywhere', async () => {
    const { out } = await carillon.command(['api-key', 'revoke', 'warehouse']);
    expect(out).toContain('warehouse is revoked');
    await untilFound('the revoked key is refused', async () => {
      const { status } = await carillon.post('shop/orders', body, as(mobile));
      return status === 401 || undefined;
    });
    // The other key goes on.
    expect((await carillon.post('shop/orders', body, as(carillon.key))).status).toBe(202);
  });

  it('sends from the command line as a client would', async () => {
    await writeFile(join(carillon.folder, 'event.json'), body);
    const { out } = await carillon.command(['send', 'shop/orders', '--file', 'event.json', '--key', '-'], carillon.key);
    expect(out).toMatch(/^evt_\w{26}\nnpx carillon trace evt_/);
  });

  it('makes a link that signs in to the portal, once', async () => {
    const { url } = await carillon.ask<{ url: string }>(['owner-link']);
    const [control, word] = url.split('/welcome#');
    const open = () =>
      fetch(`${control}/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ word }),
      });
    expect((await open()).status).toBe(200);
    expect((await open()).status).toBe(401);
  });

  it('takes a secret from standard input, seals it, and never shows it again', async () => {
    const word = 'correct horse battery staple';
    const { out } = await carillon.command(['secret', 'set', 'SMTP_PASSWORD', '--deployment'], word);
    expect(out).toContain('SMTP_PASSWORD is stored, sealed');
    expect((await carillon.command(['secret', 'list'])).out).toMatch(/\(deployment\) +SMTP_PASSWORD/);
    const stored = await carillon.home.stored();
    expect(stored).toContain('SMTP_PASSWORD');
    expect(stored).not.toContain(word);
    expect((await carillon.command(['secret', 'remove', 'SMTP_PASSWORD', '--deployment'])).out).toContain(
      'is forgotten',
    );
  });
});
