import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range from which outgoing connections take theirs, so that none of them sits on a port during a restart. */
const LOWEST = 20_000;
const BEYOND = 32_000;
/** Each process looks in a part of its own: two that look at the same time would not see what the other has not begun to use. */
const PART = 1_000;
const handedOut = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const probe = createServer();
    probe.once('error', () => settle(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => settle(true)));
  });

/** Ports of the loopback interface on which nobody listens. None is given out twice by one process. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found: number[] = [];
  const first = LOWEST + (process.pid % ((BEYOND - LOWEST) / PART)) * PART;
  while (found.length < count) {
    const port = first + randomInt(PART);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isFree(port)) found.push(port);
    if (handedOut.size > PART / 2) handedOut.clear();
  }
  return found;
}
