import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServiceFolder, freePorts } from '@carillon/testing/services';
import { CannotRun } from '../harness/bench.ts';
import { type HttpTarget, startHttpPeer } from '../http/target.ts';
import { nginxConfiguration } from './nginx-lua-kafka/configuration.ts';
import { countIds, makeTopic } from './topic.ts';

const HERE = import.meta.dirname;
const installLine = (...packages: string[]): string =>
  `on Debian, as root: apt-get install --no-install-recommends ${packages.join(' ')}`;

async function place(name: string): Promise<{ readonly port: number; readonly folder: string; readonly log: string }> {
  const [port = 0] = await freePorts(1);
  const folder = await createServiceFolder(name);
  return { port, folder, log: join(folder, 'log') };
}

/** Takes the raw body and answers; nothing is kept. */
export async function startBareFastify(): Promise<HttpTarget> {
  const { port, log } = await place('bare-fastify');
  const args = [join(HERE, 'bare-fastify/server.ts'), String(port)];
  return startHttpPeer({ name: 'fastify', command: process.execPath, args, port, log, stored: null });
}

/** A peer that appends to a topic of its own, with the id as the key of the record. */
async function startAppending(
  name: string,
  brokers: readonly string[],
  launch: (given: { readonly port: number; readonly folder: string; readonly topic: string }) => Promise<{
    readonly command: string;
    readonly args: readonly string[];
  }>,
): Promise<HttpTarget> {
  const { port, folder, log } = await place(name);
  const topic = `bench.${name}.${port}`;
  await makeTopic(brokers, topic);
  const { command, args } = await launch({ port, folder, topic });
  const stored = () => countIds(brokers, topic, ({ key }) => key);
  return startHttpPeer({ name, command, args, port, log, stored });
}

/** fastify with one `send` of kafkajs for each request; `idempotent` as its documentation has it. */
export const startFastifySend = (brokers: readonly string[], idempotent: boolean): Promise<HttpTarget> =>
  startAppending(idempotent ? 'fastify-send-idempotent' : 'fastify-send', brokers, async ({ port, topic }) => ({
    command: process.execPath,
    args: [
      join(HERE, 'fastify-send/server.ts'),
      String(port),
      brokers.join(','),
      topic,
      idempotent ? 'idempotent' : 'plain',
    ],
  }));

const NGINX = '/usr/sbin/nginx';
const LUA_KAFKA = '/usr/share/lua/5.1/nginx/kafka/producer.lua';
const LUA_MODULE = '/usr/share/nginx/modules/ngx_http_lua_module.so';

/** nginx with lua-kafka, synchronous. It speaks the protocol of Kafka before 2.1, which 4.0 no longer understands. */
export async function startNginx(brokers: readonly string[]): Promise<HttpTarget> {
  if (![NGINX, LUA_KAFKA, LUA_MODULE].every((file) => existsSync(file))) {
    throw new CannotRun(
      `it needs nginx with lua-kafka; ${installLine('nginx-light', 'libnginx-mod-http-lua', 'lua-nginx-kafka')}`,
    );
  }
  return startAppending('nginx-lua-kafka', brokers, async ({ port, folder, topic }) => {
    const [host = '', brokerPort = ''] = brokers[0]?.split(':') ?? [];
    const file = join(folder, 'nginx.conf');
    await writeFile(
      file,
      nginxConfiguration({
        folder,
        port,
        luaModule: LUA_MODULE,
        handlers: join(HERE, 'nginx-lua-kafka'),
        host,
        brokerPort,
        topic,
      }),
    );
    return { command: NGINX, args: ['-p', folder, '-c', file, '-e', join(folder, 'errors')] };
  });
}

/** Debian's, because its packages are not in any other Python. */
const PYTHON = '/usr/bin/python3';

/** aiohttp with confluent-kafka, which batches by itself. */
export async function startAiohttp(brokers: readonly string[]): Promise<HttpTarget> {
  const asked = spawnSync(PYTHON, ['-c', 'import aiohttp, confluent_kafka'], { stdio: 'ignore' });
  if (asked.status !== 0) {
    throw new CannotRun(
      `it needs aiohttp and confluent-kafka; ${installLine('python3-aiohttp', 'python3-confluent-kafka')}`,
    );
  }
  return startAppending('aiohttp-confluent', brokers, async ({ port, topic }) => ({
    command: PYTHON,
    args: [join(HERE, 'aiohttp-confluent/server.py'), String(port), brokers.join(','), topic],
  }));
}
