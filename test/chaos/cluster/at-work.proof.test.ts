import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { countAtWork, type Books } from './at-work.ts';
import { portsOf } from './process-ports.ts';

it('A kill met work where something was open with the very process; of a store or a broker, with any', () => {
  const books: Books = {
    calls: [{ callId: '1', userIds: [], port: 1, at: 100, endedAt: 200, answered: true, refused: false }],
    sends: [{ port: 2, from: 300, until: 400, ending: 'broken', message_id: null }],
    requests: [{ port: 3, from: 500, until: Number.POSITIVE_INFINITY }],
  };
  const kill = (at: number, ...ports: number[]) => ({ at, what: 'kill engine 1', ports: new Set(ports) });
  expect(countAtWork([kill(100, 1), kill(200, 1, 9)], books)).toBe(2);
  expect(countAtWork([kill(99, 1), kill(201, 1), kill(150, 2), kill(150)], books)).toBe(0);
  expect(countAtWork([kill(350, 2), kill(600, 3), { at: 600, what: 'hold engine 1 still' }], books)).toBe(2);
  const ofBroker = (at: number) => ({ at, what: 'kill Kafka node 1' });
  expect(countAtWork([ofBroker(150), ofBroker(350), ofBroker(450)], books)).toBe(2);
});

it('The ports of a process are those that it listens at and is connected by', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  expect(portsOf(process.pid)).toContain(port);
  server.close();
  await once(server, 'close');
  expect(portsOf(process.pid)).not.toContain(port);
  expect(portsOf(2 ** 30)).toEqual(new Set());
});
