import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';

const running: HttpServer[] = [];
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const server of running.splice(0)) await server.close(0);
});

function make(options: Partial<HttpServerOptions> = {}): HttpServer {
  let count = 0;
  const newRequestId = (): string => `req_${(count += 1)}`;
  const server = createHttpServer({ host: '0.0.0.0', port: 0, portSetting: '--test-port', newRequestId, ...options });
  running.push(server);
  return server;
}

type Client = { readonly socket: Socket; text(): string; open(): boolean };

/** A connection from one of this machine's addresses; resolves when it stands. */
function client(port: number, from = '127.0.0.1'): Promise<Client> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    opened.push(socket);
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    socket.on('error', reject).on('connect', () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve({ socket, text: () => text, open: () => !socket.destroyed && socket.readyState === 'open' });
    });
  });
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const statuses = (text: string): number => text.match(/HTTP\/1\.1 200 /g)?.length ?? 0;
const alive = async (one: Client): Promise<boolean> => {
  const before = statuses(one.text());
  one.socket.write(get('/livez'));
  await expect.poll(() => statuses(one.text()) > before || !one.open()).toBe(true);
  return one.open();
};

describe('unanswered requests of one connection', () => {
  /** A server whose `/held` is answered when the test says so. */
  async function holding(limits: HttpServerOptions['limits'] = {}) {
    const cut: string[] = [];
    const server = make({ limits, cut: (reason) => void cut.push(reason) });
    const held: (() => void)[] = [];
    let most = 0;
    server.app.get('/held', () => {
      const answer = Promise.withResolvers<string>();
      held.push(() => answer.resolve('ok'));
      most = Math.max(most, held.length);
      return answer.promise;
    });
    let read = (): number => 0;
    server.app.server.on('connection', (socket) => (read = () => socket.bytesRead));
    return { cut, held, most: () => most, read: () => read(), port: (await server.listen()).port };
  }

  test('are limited to a handful; then its socket is not read until they are answered in order', async () => {
    const { held, most, read, port } = await holding({ maxRequestsPerSocket: 100_000, maxWaitingRequests: 100_000 });
    const one = await client(port);
    const request = get('/held');
    const all = 60_000;
    for (let at = 0; at < all; at += 1_000) one.socket.write(request.repeat(1_000));
    await expect.poll(() => held.length).toBe(8);
    // Whatever is sent on stays with the client and with the system.
    const before = read();
    await expect.poll(() => one.socket.bytesWritten).toBeGreaterThan(200_000);
    expect(read()).toBe(before);
    expect(read()).toBeLessThanOrEqual(64 * 1024);
    let answered = 0;
    while (answered < 200) {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      for (const answer of held.splice(0)) {
        answer();
        answered += 1;
      }
    }
    await expect.poll(() => statuses(one.text())).toBeGreaterThanOrEqual(200);
    expect(most()).toBe(8);
  });

  test('yield the event loop to others after a handful', async () => {
    const server = make();
    const order: string[] = [];
    server.app.get('/quick/:who', async (request) => {
      order.push((request.params as { who: string }).who);
      return 'ok';
    });
    const { port } = await server.listen();
    const [greedy, quiet] = [await client(port), await client(port)];
    greedy.socket.write(get('/quick/greedy').repeat(1_000));
    quiet.socket.write(get('/quick/quiet'));
    await expect.poll(() => order.length).toBe(1_001);
    // Both clients sent before the server's next tick, which serves both.
    expect(order.indexOf('quiet')).toBeLessThan(200);
    await expect.poll(() => statuses(greedy.text())).toBe(1_000);
  });

  test('start one per tick of the event loop over all connections', async () => {
    const server = make();
    let begun = 0;
    const heard = new Set<string>();
    server.app.get('/quick/:who', async (request) => {
      begun += 1;
      heard.add((request.params as { who: string }).who);
      return 'ok';
    });
    const { port } = await server.listen();
    const greedy = await Promise.all(Array.from({ length: 5 }, () => client(port)));
    for (const [who, one] of greedy.entries()) one.socket.write(get(`/quick/${who}`).repeat(400));
    const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
    // A handful of what is read of each begins at once.
    while (heard.size < greedy.length) await turn();
    let most = 0;
    while (begun < 2_000) {
      const before = begun;
      await turn();
      most = Math.max(most, begun - before);
    }
    expect(most).toBeLessThanOrEqual(2);
  });

  test('over the total limit: the connection with most requests is closed, and others continue', async () => {
    const { cut, held, port } = await holding({ maxWaitingRequests: 20 });
    const patient = await client(port);
    patient.socket.write(get('/held').repeat(18));
    await expect.poll(() => held.length).toBe(8);
    const flood = await client(port);
    flood.socket.write(get('/held').repeat(100));
    await expect.poll(() => flood.open()).toBe(false);
    expect(cut).toEqual(['pipelined']);
    expect(await alive(await client(port))).toBe(true);
    // The flood's own eight are gone with it, and may be answered without harm.
    const answerAll = (): number => {
      for (const answer of held.splice(0)) answer();
      return statuses(patient.text());
    };
    await expect.poll(answerAll).toBe(18);
  });

  test('of closed connections do not delay a stop', async () => {
    const { held, port } = await holding();
    const one = await client(port);
    one.socket.write(get('/held').repeat(30));
    await expect.poll(() => held.length).toBe(8);
    one.socket.destroy();
    const [server] = running.splice(0);
    // Its deadline is an hour: it would wait for what nobody can answer any more.
    await server?.close(3_600_000);
  });
});

describe('connections', () => {
  test('are closed after their idle timeout', async () => {
    const { port } = await make({ limits: { keepAliveTimeout: 100 } }).listen();
    const one = await client(port);
    one.socket.write(get('/livez'));
    await expect.poll(() => statuses(one.text())).toBe(1);
    await expect.poll(() => one.open()).toBe(false);
  });

  test('announce their end after five seconds', async () => {
    const { address } = await make().listen();
    expect((await fetch(`${address}/livez`)).headers.get('keep-alive')).toMatch(/^timeout=5,/);
  });

  test('per address are limited, and the longest idle one is closed for a new one', async () => {
    const cut: string[] = [];
    const server = make({ limits: { maxConnectionsPerAddress: 3 }, cut: (reason) => void cut.push(reason) });
    const { port } = await server.listen();
    const first = [await client(port), await client(port), await client(port)];
    for (const one of first) expect(await alive(one)).toBe(true);
    const next = await client(port);
    expect(await alive(next)).toBe(true);
    await expect.poll(() => first.map((one) => one.open())).toEqual([false, true, true]);
    expect(cut).toEqual(['connections']);
    // Another address has its own.
    expect(await alive(await client(port, '127.0.0.2'))).toBe(true);
    expect(cut).toHaveLength(1);
  });

  test('per address that are all busy keep their place, and the new one is closed', async () => {
    const server = make({ limits: { maxConnectionsPerAddress: 2 } });
    const release: (() => void)[] = [];
    server.app.get('/held', () => new Promise((resolve) => release.push(() => resolve('ok'))));
    const { port } = await server.listen();
    const busy = [await client(port), await client(port)];
    for (const one of busy) one.socket.write(get('/held'));
    await expect.poll(() => release.length).toBe(2);
    const late = await client(port);
    await expect.poll(() => late.open()).toBe(false);
    expect(await alive(await client(port, '127.0.0.2'))).toBe(true);
    for (const answer of release) answer();
    await expect.poll(() => busy.map((one) => statuses(one.text()))).toEqual([1, 1]);
  });

  test('over all addresses are limited, and the address with most loses one', async () => {
    const server = make({ limits: { maxConnections: 4 } });
    const { port } = await server.listen();
    const crowd = [await client(port, '127.0.0.2'), await client(port, '127.0.0.2'), await client(port, '127.0.0.2')];
    const lone = await client(port, '127.0.0.3');
    for (const one of [...crowd, lone]) expect(await alive(one)).toBe(true);
    expect(await alive(await client(port, '127.0.0.4'))).toBe(true);
    await expect.poll(() => crowd.map((one) => one.open())).toEqual([false, true, true]);
    expect(await alive(lone)).toBe(true);
  });
});
