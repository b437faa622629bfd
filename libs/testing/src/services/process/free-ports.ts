import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the range of ephemeral ports, so that no outgoing connection occupies a port during a restart. */
const LOWEST = 20_000;
const BEYOND = 32_000;
const handedOut = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const probe = createServer();
    probe.once('error', () => settle(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => settle(true)));
  });

/**
 * Reserves a port against other processes until this process ends, because nobody listens there between its choice and
 * the start of the service. The reservation is a UDP port, which no service uses.
 */
const reserve = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const kept = createSocket('udp4').unref();
    kept.once('error', () => settle(false));
    kept.bind({ port, address: '127.0.0.1', exclusive: true }, () => settle(true));
  });

/** Returns free ports of the loopback interface. A process never gets a port twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const port = randomInt(LOWEST, BEYOND);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if ((await reserve(port)) && (await isFree(port))) found.push(port);
    if (handedOut.size > (BEYOND - LOWEST) / 2) handedOut.clear();
  }
  return found;
}
