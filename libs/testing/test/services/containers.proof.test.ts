import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hasEngine } from '../../src/services/containers/container.ts';
import { startInContainer, startMongoDb } from '../../src/services/index.ts';

const TIMEOUT = 600_000;
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../../..');
const podman = spawnSync('podman', ['--version']).status === 0;

const STAND_INS = ['kafka', 'mongodb', 'registry'].map((name) => `${name}=localhost/carillon-stand-in-${name}`).join();

/** The engine is asked anew: testcontainers remembers the first that answered. */
async function asked(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const index = JSON.stringify(resolve(import.meta.dirname, '../../src/services/index.ts'));
  const program = `import { startInContainer, startMongoDb } from ${index};\n${script}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, ...env },
  });
  return stdout;
}

describe.skipIf(!podman)('Servers in containers (needs podman with runc)', () => {
  let engine: ChildProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-engine-'));
    const socket = `unix://${join(folder, 'podman.sock')}`;
    engine = spawn('podman', ['system', 'service', '--time', '0', socket], { stdio: 'ignore' });
    vi.stubEnv('DOCKER_HOST', socket);
    vi.stubEnv('TESTCONTAINERS_HOST_OVERRIDE', '127.0.0.1');
    if (!process.env['CARILLON_TEST_IMAGES']) {
      await run(join(root, 'deploy/images/make-stand-ins.sh'));
      vi.stubEnv('CARILLON_TEST_IMAGES', STAND_INS);
    }
    await vi.waitFor(async () => expect(await hasEngine()).toBe(true), { timeout: 30_000 });
  }, TIMEOUT);
  afterAll(async () => {
    vi.unstubAllEnvs();
    engine?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    'a broker keeps what it acknowledged over kill -9, at the same address',
    async () => {
      const server = await startInContainer('kafka');
      onTestFinished(async () => server?.stop());
      const brokers = [server?.address ?? ''];
      const kafka = new Kafka({ clientId: 'containers-test', brokers, logLevel: logLevel.NOTHING });
      const [admin, producer] = [kafka.admin(), kafka.producer()];
      await admin.createTopics({ waitForLeaders: true, topics: [{ topic: 'kept', numPartitions: 1 }] });
      await producer.connect();
      await producer.send({ topic: 'kept', acks: -1, messages: [{ value: 'one' }] });
      await producer.disconnect();
      await server?.kill();
      await server?.restart();
      expect((await admin.fetchTopicOffsets('kept')).map(({ high }) => high)).toEqual(['1']);
      await admin.disconnect();
    },
    TIMEOUT,
  );

  test(
    'a server with MongoDB’s protocol accepts writes at once, and keeps them over kill -9',
    async () => {
      const server = await startMongoDb();
      onTestFinished(() => server.stop());
      const client = new MongoClient(server.url);
      onTestFinished(() => client.close());
      const kept = client.db('test').collection<{ _id: string }>('kept');
      await kept.insertOne({ _id: 'one' }, { writeConcern: { w: 'majority', j: true } });
      await server.kill();
      await server.restart();
      await vi.waitFor(async () => expect(await kept.findOne()).toEqual({ _id: 'one' }), { timeout: 60_000 });
    },
    TIMEOUT,
  );

  test(
    'a registry responds, and its container leaves nothing behind when it is stopped',
    async () => {
      const server = await startInContainer('registry');
      expect((await fetch(`${server?.url}/subjects`)).status).toBe(200);
      const mine = ['ps', '--all', '--quiet', '--filter', `label=carillon-test=${process.pid}`];
      expect((await run('podman', mine)).stdout).not.toBe('');
      await server?.stop();
      expect((await run('podman', mine)).stdout).toBe('');
    },
    TIMEOUT,
  );

  test(
    'the test lanes use them instead of processes of their own',
    async () => {
      const file = 'libs/adapters/mongodb/test/one-answer.server.test.ts';
      const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project=server', file];
      const { stdout } = await run(process.execPath, vitest, { cwd: root, maxBuffer: 1e8 });
      expect(stdout).toContain('mongodb: a container of');
    },
    TIMEOUT,
  );
});

describe('A container engine', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test(
    'without the image, and unable to pull it, is reported and replaced by a local process',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'carillon-engine-'));
      const socket = join(folder, 'engine.sock');
      const server = await engineWithoutImages(socket);
      onTestFinished(async () => {
        server.close();
        await rm(folder, { recursive: true });
      });
      const script = `const server = await startMongoDb(); console.log('folder', server.dataDir); await server.stop();`;
      const said = await asked(script, { DOCKER_HOST: `unix://${socket}`, TESTCONTAINERS_RYUK_DISABLED: 'true' });
      expect(said).toMatch(/mongodb: not in a container, because none of mongo:\S+ could be started: .*no such host/);
      expect(said).toMatch(/folder .*ferretdb/);
    },
    TIMEOUT,
  );

  test('that does not respond is ignored without a message', async () => {
    const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
    const said = await asked(`console.log(await startInContainer('kafka') === undefined);`, env);
    expect(said).toBe('true\n');
  });
});

/** Answers Docker's API as an engine of a machine that reaches no registry of images. */
async function engineWithoutImages(socket: string): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    if (path.includes('/images/create')) {
      response.writeHead(500).end(JSON.stringify({ message: 'lookup registry.test: no such host' }));
    } else if (path.includes('/images/')) {
      response.writeHead(404).end(JSON.stringify({ message: 'no such image' }));
    } else response.end('{}');
  });
  await once(server.listen(socket), 'listening');
  return server;
}
