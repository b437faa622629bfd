import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  createServiceFolder,
  freePorts,
  DOCUMENTDB_RELEASE,
  postgresProgram,
  ensureCached,
  runCommand,
  ServiceProcess,
} from '@carillon/testing/services';
import { CannotRun } from '../../harness/bench.ts';

/** What a queue keeps its jobs in. */
export type QueueServer = { readonly url: string; readonly port: number; readonly pid: number; stop(): Promise<void> };

const REDIS = '/usr/bin/redis-server';
/** PostgreSQL refuses to run as root. This is `nobody`. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Whether somebody takes connections there. */
const takesConnections = (port: number): Promise<boolean> =>
  new Promise((settle, fail) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', fail);
  });

/** PostgreSQL as it is, but for where it listens: each commit waits for the disk. */
export async function startPostgreSql(): Promise<QueueServer> {
  const programs = await ensureCached(DOCUMENTDB_RELEASE);
  const folder = await createServiceFolder('postgresql');
  const [port = 0] = await freePorts(1);
  const home = join(folder, 'home');
  const data = join(home, 'data');
  const isRoot = process.getuid?.() === 0;
  await mkdir(home);
  if (isRoot) await chown(home, NOBODY.uid, NOBODY.gid);
  const common = {
    log: join(folder, 'log'),
    cwd: home,
    env: { HOME: home, LC_ALL: 'C' },
    ...(isRoot && { user: NOBODY }),
  };
  await runCommand({
    ...common,
    command: postgresProgram(programs, DOCUMENTDB_RELEASE, 'initdb'),
    args: ['-D', data, '--auth=trust', '-U', 'postgres', '--locale=C', '--encoding=UTF8', '--no-sync'],
  });
  await appendFile(
    join(data, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`,
  );
  const server = new ServiceProcess({
    name: 'PostgreSQL',
    launch: { ...common, command: postgresProgram(programs, DOCUMENTDB_RELEASE, 'postgres'), args: ['-D', data] },
    isReady: () => takesConnections(port),
    // "Fast": it does not wait for clients to leave.
    stopSignal: 'SIGINT',
  });
  return started(server, folder, `postgres://postgres@127.0.0.1:${port}/postgres`, port);
}

/** Redis that forces each command to disk before it answers. */
export async function startRedis(): Promise<QueueServer> {
  if (!existsSync(REDIS)) {
    throw new CannotRun('it needs Redis; on Debian, as root: apt-get install --no-install-recommends redis-server');
  }
  const folder = await createServiceFolder('redis');
  const [port = 0] = await freePorts(1);
  const options = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
  const server = new ServiceProcess({
    name: 'Redis',
    launch: {
      command: REDIS,
      args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...options],
      log: join(folder, 'log'),
    },
    isReady: () => takesConnections(port),
  });
  return started(server, folder, `redis://127.0.0.1:${port}`, port);
}

async function started(server: ServiceProcess, folder: string, url: string, port: number): Promise<QueueServer> {
  await server.start();
  return {
    url,
    port,
    pid: server.pid,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
