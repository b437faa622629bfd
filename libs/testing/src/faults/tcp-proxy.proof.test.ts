import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let echo: Server;
let proxy: TcpProxy;
beforeEach(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => undefined).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startTcpProxy((echo.address() as AddressInfo).port);
});
afterEach(async () => {
  await proxy.stop();
  await new Promise((resolve) => echo.close(resolve));
});

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
const answer = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);

describe('A proxy between two programs', () => {
  it('passes bytes and their end in both directions', async () => {
    const socket = await open();
    const heard = text(socket);
    socket.write('one ');
    socket.end('two');
    expect(await heard).toBe('one two');
  });

  it('cuts open and new connections, and then passes again', async () => {
    const socket = await open();
    socket.write('one');
    expect(await answer(socket)).toBe('one');
    const broken = once(socket, 'error');
    proxy.fail('cut');
    expect(String((await broken)[0])).toContain('ECONNRESET');
    const late = connect(proxy.port, '127.0.0.1');
    expect(String((await once(late, 'error'))[0])).toContain('ECONNRESET');
    proxy.fail('pass');
    const again = await open();
    again.end('two');
    expect(await text(again)).toBe('two');
  });

  it('resets connections once and says how many', async () => {
    const socket = await open();
    socket.write('one');
    await answer(socket);
    const broken = once(socket, 'error');
    expect(proxy.reset()).toBe(1);
    await broken;
    expect(proxy.reset()).toBe(0);
  });

  it('delays everything while it stalls, and loses nothing', async () => {
    const socket = await open();
    socket.write('one');
    expect(await answer(socket)).toBe('one');
    proxy.fail('stall');
    let heard = '';
    socket.on('data', (piece) => (heard += String(piece)));
    socket.write('two');
    const other = await open();
    other.write('three');
    // Past the proxy, answers come meanwhile, and more often than these would have needed.
    const direct = connect((echo.address() as AddressInfo).port, '127.0.0.1');
    for (let time = 0; time < 20; time += 1) {
      direct.write('beside');
      expect(await answer(direct)).toBe('beside');
    }
    direct.destroy();
    expect(heard).toBe('');
    const third = answer(other);
    proxy.fail('pass');
    expect(await third).toBe('three');
    await expect.poll(() => heard).toBe('two');
    socket.destroy();
    other.destroy();
  });

  it('delays every chunk, in order', async () => {
    const socket = await open();
    proxy.fail({ delay: 50 });
    const since = performance.now();
    socket.write('one ');
    socket.end('two');
    expect(await text(socket)).toBe('one two');
    expect(performance.now() - since).toBeGreaterThanOrEqual(95);
  });
});
