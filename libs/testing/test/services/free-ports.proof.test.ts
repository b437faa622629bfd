import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePorts } from '../../src/services/index.ts';

test('an assigned port is free for its service, and is not assigned to others', async () => {
  const [one = 0, another = 0] = await freePorts(2);
  expect(one).not.toBe(another);
  const service = createServer().listen(one, '127.0.0.1');
  await once(service, 'listening');
  service.close();
  const other = createSocket('udp4').bind({ port: one, address: '127.0.0.1' });
  expect(await once(other, 'error')).toMatchObject([{ code: 'EADDRINUSE' }]);
});
