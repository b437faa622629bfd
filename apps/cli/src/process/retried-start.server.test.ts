import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { CarillonError } from '@carillon/kernel';
import type { LogFields } from '@carillon/runtime';
import { freePorts } from '@carillon/testing/services';
import { afterEach, expect, it } from 'vitest';
import { startWithRetries } from './retried-start.ts';
import { findProcessContext } from './settings.ts';

const never = new Promise<void>(() => undefined);
const taken: Server[] = [];
afterEach(async () => {
  for (const server of taken.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

/** A role on free ports, whose start is what a test says; and what its log says. */
async function patient(patience: string, asked: Promise<void> = never) {
  const [gateway = 0, health = 0] = await freePorts(2);
  const lines: LogFields[] = [];
  const env = {
    CARILLON_START_PATIENCE: patience,
    CARILLON_GATEWAY_PORT: String(gateway),
    CARILLON_HEALTH_PORT: String(health),
  };
  return {
    lines,
    gateway: `http://127.0.0.1:${gateway}`,
    health: `http://127.0.0.1:${health}`,
    port: gateway,
    start: (one: (listens: () => Promise<void>) => Promise<string>, more: Record<string, string | undefined> = {}) =>
      startWithRetries({
        role: 'gateway',
        places: () => [
          { port: gateway, strangers: true },
          { port: health, strangers: false },
        ],
        find: () => findProcessContext({}, { ...env, ...more }),
        start: (_context, listens) => one(listens),
        asked,
        warn: (fields) => void lines.push(fields),
      }),
  };
}

const away = (ms = 4_000): never => {
  throw new CarillonError('log_unavailable', `no broker answered within ${ms} ms`);
};
const answerOf = async (url: string): Promise<unknown> => {
  const answer = await fetch(url);
  return [answer.status, await answer.json()];
};

it('a broker that comes late is waited for: health says why not, the log has one line, and then the role has its ports', async () => {
  const role = await patient('600');
  let tries = 0;
  const started = role.start(async (listens) => {
    tries += 1;
    if (tries < 3) away(4_000 + tries);
    await listens();
    const server = createServer().listen(role.port, '127.0.0.1');
    await once(server, 'listening');
    taken.push(server);
    return 'started';
  });
  await expect.poll(() => role.lines.length, { timeout: 60_000 }).toBe(1);
  expect(await answerOf(`${role.gateway}/livez`)).toEqual([200, { status: 'ok' }]);
  // The intake is for strangers: it says no more than that.
  expect(await answerOf(`${role.gateway}/readyz`)).toEqual([503, { status: 'not_ready' }]);
  expect(await answerOf(`${role.health}/readyz`)).toMatchObject([
    503,
    { checks: [{ name: 'start', ok: false, detail: expect.stringMatching(/no broker answered/) as unknown }] },
  ]);
  expect(await started).toBe('started');
  expect(role.lines).toMatchObject([{ role: 'gateway', code: 'log_unavailable', retry_ms: 3_000 }]);
});

it('without patience a start that fails is over at once', async () => {
  const role = await patient('0');
  await expect(role.start(async () => away())).rejects.toMatchObject({ code: 'log_unavailable' });
  expect(role.lines).toEqual([]);
});

it('the start retries up to a timeout, and stops at once when asked to', async () => {
  const short = await patient('1');
  await expect(short.start(async () => away())).rejects.toMatchObject({ code: 'log_unavailable' });
  expect(short.lines).toHaveLength(1);
  const asked = Promise.withResolvers<void>();
  const long = await patient('3600', asked.promise);
  const ended = long.start(async () => away());
  await expect.poll(() => long.lines.length, { timeout: 60_000 }).toBe(1);
  asked.resolve();
  await expect(ended).rejects.toMatchObject({ code: 'log_unavailable' });
});

it('what is wrong with the settings is said, and read again: a secret may be mounted late', async () => {
  const role = await patient('600');
  const more: Record<string, string | undefined> = { CARILLON_HEALTH_TOKEN_FILE: '/nowhere/token' };
  const started = role.start(async () => 'started', more);
  await expect.poll(() => role.lines.length, { timeout: 60_000 }).toBe(1);
  expect(role.lines[0]).toMatchObject({
    code: 'wrong_usage',
    detail: expect.stringMatching(/\/nowhere\/token/) as unknown,
  });
  more['CARILLON_HEALTH_TOKEN_FILE'] = undefined;
  expect(await started).toBe('started');
});

it('a port in use is logged too, although health cannot be served', async () => {
  const role = await patient('600');
  const other = createServer().listen(role.port, '127.0.0.1');
  await once(other, 'listening');
  let tries = 0;
  const started = role.start(async (listens) => {
    await listens();
    tries += 1;
    if (tries === 1) throw new CarillonError('port_in_use', `127.0.0.1:${role.port} is held by another process.`);
    return 'started';
  });
  await expect.poll(() => role.lines.length, { timeout: 60_000 }).toBe(1);
  expect((await fetch(`${role.health}/readyz`)).status).toBe(503);
  other.close();
  expect(await started).toBe('started');
  expect(role.lines).toMatchObject([{ code: 'port_in_use' }]);
});
