import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { selfSigned, untilFound } from '@carillon/testing';
import { freePorts } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openControl, TOKEN, type Fixture } from '../../apps/control/test/control-fixture.ts';
import { describeWith, PROGRAMS } from '../support/requirements.ts';

/** The proxy that docs/limits-per-client.md shows, run as it stands there but for its address, its certificate and where Carillon is. */
describeWith('nginx', 'The proxy of limits-per-client.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/limits-per-client.md'), 'utf8');
  const [, shown = ''] = /```nginx\n([^]*?)```/.exec(page) ?? [];
  const opened: Socket[] = [];
  let folder: string;
  let upstream: Server;
  let nginx: ChildProcess;
  let port: number;
  let portalPort: number;
  let portal: Fixture;
  /** What reached Carillon: head and body. */
  const reached: {
    readonly url: string;
    readonly forwarded: unknown;
    readonly scheme: unknown;
    readonly body: string;
  }[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-proxy-'));
    upstream = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const { 'x-forwarded-for': forwarded, 'x-forwarded-proto': scheme } = request.headers;
        reached.push({ url: request.url ?? '', forwarded, scheme, body });
        response.writeHead(202, { 'content-type': 'application/json' }).end('{"id":"evt_1"}');
      });
    });
    await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening));
    portal = await openControl(undefined, {}, { trustedProxies: ['127.0.0.1'] });
    const { address } = await portal.control.listen();
    [port = 0, portalPort = 0] = await freePorts(2);
    const { cert, key } = selfSigned('carillon.example.com');
    await Promise.all([writeFile(join(folder, 'portal.pem'), cert), writeFile(join(folder, 'portal.key'), key)]);
    const adapted = shown
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replaceAll(/ +ssl_certificate.*events.*\n/g, '')
      .replace('listen 443 ssl;', `listen 127.0.0.1:${portalPort} ssl;`)
      .replaceAll('/etc/ssl/carillon.example.com', `${folder}/portal`)
      .replace('http://127.0.0.1:7401', address)
      .replace('127.0.0.1:7400', `127.0.0.1:${(upstream.address() as AddressInfo).port}`);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (what) => `${what}_temp_path ${folder}/${what};`,
    );
    const file = join(folder, 'nginx.conf');
    await writeFile(
      file,
      `daemon off;\npid ${folder}/pid;\nerror_log stderr warn;\nevents { worker_connections 512; }\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${adapted}\n}\n`,
    );
    nginx = spawn(PROGRAMS.nginx.path, ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    nginx.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    const answers = async (): Promise<true | undefined> =>
      (await fetch(`http://127.0.0.1:${port}/metrics`)).status === 404 || undefined;
    await untilFound('the proxy', () => {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${said}`);
      return answers().catch(() => undefined);
    });
  });
  afterAll(async () => {
    for (const socket of opened) socket.destroy();
    if (nginx.exitCode === null) {
      const ended = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await ended;
    }
    await portal.control.close(0);
    upstream.closeAllConnections();
    upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  const post = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/events/shop/orders`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
  function client(first: string): { send(text: string): void; text(): string } {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    opened.push(socket);
    socket
      .setEncoding('latin1')
      .on('data', (chunk) => (text += chunk))
      .on('error', () => undefined);
    socket.write(first);
    return { send: (more) => void socket.write(more), text: () => text };
  }
  const head = (length: number): string =>
    `POST /events/shop/orders HTTP/1.1\r\nhost: events.example.com\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

  it('passes an event on, and says for whom', async () => {
    const answer = await post('{"order_id":"A-1"}');
    expect([answer.status, await answer.text()]).toEqual([202, '{"id":"evt_1"}']);
    const body = '{"order_id":"A-1"}';
    expect(reached.at(-1)).toEqual({ url: '/events/shop/orders', forwarded: '127.0.0.1', scheme: 'http', body });
  });

  it('keeps a body until it is whole', async () => {
    const before = reached.length;
    const slow = client(`${head(9)}{"a"`);
    expect((await post('{}')).status).toBe(202);
    expect(reached.slice(before).map(({ body }) => body)).toEqual(['{}']);
    slow.send(':"b"}');
    await expect.poll(() => slow.text()).toMatch(/^HTTP\/1\.1 202 /);
  });

  it('lets one address have 64 requests under way, and refuses the others with 429', async () => {
    const many = Array.from({ length: 70 }, () => client(`${head(9)}{`));
    const refused = (): number => many.filter((one) => one.text().startsWith('HTTP/1.1 429 ')).length;
    await expect.poll(refused).toBe(6);
    for (const one of many) one.send('"a":"b"}');
    await expect.poll(() => many.filter((one) => one.text().startsWith('HTTP/1.1 202 ')).length).toBe(64);
  });

  it('refuses more than a cohort takes, and shows no metrics', async () => {
    const large = client(head(5 * 1024 * 1024));
    await expect.poll(() => large.text()).toMatch(/^HTTP\/1\.1 413 /);
    const before = reached.length;
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
    expect(reached).toHaveLength(before);
  });

  it('gives the portal a Secure session cookie and HSTS', async () => {
    const answer = await new Promise<IncomingMessage>((settle, fail) => {
      const sent = requestOverTls({
        port: portalPort,
        host: '127.0.0.1',
        path: '/v1/session',
        method: 'POST',
        rejectUnauthorized: false,
        headers: {
          host: 'carillon.example.com',
          origin: 'https://carillon.example.com',
          'content-type': 'application/json',
        },
      });
      sent
        .on('response', settle)
        .on('error', fail)
        .end(JSON.stringify({ word: TOKEN }));
    });
    answer.resume();
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^__Host-carillon_session_\d+=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
    );
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
  });
});
