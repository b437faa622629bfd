import type { ErasureLookBody } from '@carillon/contracts';
import { Command } from 'commander';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { erasureCommands } from './erasures.ts';

const LOOK: ErasureLookBody = {
  found: { deliveries: 2 },
  checksum: 'c1',
  shared_addresses: 0,
  undecided: [],
  erasure: null,
};
const OVERLOADED = {
  type: '/docs/errors#overloaded',
  title: 'The server is overloaded',
  status: 503,
  detail: 'the log is still being read: send the same request again',
  code: 'overloaded',
  request_id: 'req_1',
};

let server: Server;
let requests = 0;
let output = '';
beforeEach(async () => {
  [requests, output] = [0, ''];
  server = createServer((request, response) => {
    requests += 1;
    const isRead = requests > 2;
    request.resume().on('end', () => {
      response.writeHead(isRead ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isRead ? LOOK : OVERLOADED));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('CARILLON_TOKEN', 't');
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  server.close();
});

it('carillon erase asks again until the log is read', async () => {
  const program = new Command().exitOverride();
  erasureCommands(program);
  const { port } = server.address() as AddressInfo;
  const at = ['--url', `http://127.0.0.1:${port}`, '--workspace', 'shop', '--json'];
  await program.parseAsync(['erase', 'bob', '--reason', 'Letter', ...at], { from: 'user' });
  expect(JSON.parse(output)).toEqual(LOOK);
  expect(requests).toBe(3);
});
