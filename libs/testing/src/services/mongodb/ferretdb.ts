import { execFile } from 'node:child_process';
import { appendFile, chown, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { ensureCached } from '../cache/cache-entry.ts';
import { freePorts } from '../process/free-ports.ts';
import { runCommand } from '../process/run-command.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service, ServicePart } from '../service.ts';
import { FERRETDB_RELEASE, ferretDbProgram } from './ferretdb-release.ts';
import { POSTGRES_RELEASE, postgresProgram } from './postgres-release.ts';

export type FerretDbOptions = {
  /** Whether PostgreSQL waits for the disk. Only a loss of power shows the difference, so it does not unless told. */
  readonly fsync?: boolean;
  /** Hears of a download. */
  readonly say?: Say;
};

export type MongoDbService = Service & { readonly url: string };

export type FerretDbService = MongoDbService & {
  readonly parts: { readonly postgres: ServicePart; readonly ferretDb: ServicePart };
};

/** PostgreSQL refuses to run as root. This is `nobody`. */
const NOBODY = { uid: 65_534, gid: 65_534 };

const configuration = (port: number, fsync: boolean): string => `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
# Inserts of one and the same unique key block each other; with the usual second each such knot would cost a second.
deadlock_timeout = '10ms'
fsync = ${fsync ? 'on' : 'off'}
max_connections = 200
`;

/** Root's home is closed to others, and a cache in it would fail in a way that nobody understands. */
async function assertOpenToOthers(folder: string): Promise<void> {
  for (let path = folder; path !== '/'; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) {
      throw new Error(
        `PostgreSQL does not run as root, and others cannot enter ${path}. Set CARILLON_CACHE to a folder elsewhere.`,
      );
    }
  }
}

type Places = { readonly programs: string; readonly dataDir: string; readonly port: number };

const psql = (places: Places, statement: string): Promise<unknown> =>
  promisify(execFile)(
    postgresProgram(places.programs, 'psql'),
    ['-h', '127.0.0.1', '-p', String(places.port), '-U', 'postgres', '-X', '-q', '-A', '-t', '-c', statement],
    { env: { ...process.env, PGCONNECT_TIMEOUT: '2', PGOPTIONS: '-c client_min_messages=error' }, timeout: 20_000 },
  );

async function preparePostgres(places: Places, fsync: boolean): Promise<ServiceProcess> {
  const { programs, dataDir, port } = places;
  const isRoot = process.getuid?.() === 0;
  const home = join(dataDir, 'postgres');
  const data = join(home, 'data');
  const log = join(dataDir, 'postgres.log');
  await mkdir(home);
  if (isRoot) {
    await assertOpenToOthers(programs);
    await assertOpenToOthers(dataDir);
    await chown(home, NOBODY.uid, NOBODY.gid);
  }
  const common = { log, cwd: home, env: { HOME: home, LC_ALL: 'C' }, ...(isRoot && { user: NOBODY }) };
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  await runCommand({
    ...common,
    command: postgresProgram(programs, 'initdb'),
    args: ['-D', data, '--auth=trust', '-U', 'postgres', ...locale, '--no-sync'],
  });
  await appendFile(join(data, 'postgresql.conf'), configuration(port, fsync));
  return new ServiceProcess({
    name: 'PostgreSQL',
    launch: { ...common, command: postgresProgram(programs, 'postgres'), args: ['-D', data] },
    isReady: async () => {
      await psql(places, 'create extension if not exists documentdb cascade');
      return true;
    },
    // "Fast": it does not wait for clients to leave.
    stopSignal: 'SIGINT',
    // After a kill its children take a moment to notice, and until then it refuses to start.
    attempts: 50,
  });
}

async function answersPing(url: string): Promise<boolean> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: 1000,
    connectTimeoutMS: 1000,
    socketTimeoutMS: 5000,
  });
  try {
    // A ping alone would not ask PostgreSQL.
    await client.db('admin').command({ listDatabases: 1, nameOnly: true });
    return true;
  } finally {
    await client.close();
  }
}

const partOf = (process: ServiceProcess): ServicePart => ({
  name: process.name,
  get pid() {
    return process.pid;
  },
  get running() {
    return process.running;
  },
  kill: (signal) => process.kill(signal),
  restart: () => process.restart(),
});

/**
 * FerretDB on PostgreSQL with DocumentDB, on free ports of the loopback interface. One node, no transactions, no change
 * streams: it does not show what a replica set does when a member is lost.
 */
export async function startFerretDb({ fsync = false, say }: FerretDbOptions = {}): Promise<FerretDbService> {
  const programs = await ensureCached(POSTGRES_RELEASE, say);
  const ferretDbFolder = await ensureCached(FERRETDB_RELEASE, say);
  const dataDir = await createServiceFolder('ferretdb');
  const [postgresPort = 0, port = 0] = await freePorts(2);
  const url = `mongodb://127.0.0.1:${port}/`;
  const stateDir = join(dataDir, 'ferretdb');
  await mkdir(stateDir);
  const ferretDb = new ServiceProcess({
    name: 'FerretDB',
    launch: {
      command: ferretDbProgram(ferretDbFolder),
      args: [
        `--listen-addr=127.0.0.1:${port}`,
        `--postgresql-url=postgres://postgres@127.0.0.1:${postgresPort}/postgres`,
        `--state-dir=${stateDir}`,
        '--no-auth',
        '--telemetry=disable',
        '--debug-addr=-',
        '--log-level=error',
      ],
      log: join(dataDir, 'ferretdb.log'),
    },
    isReady: () => answersPing(url),
  });
  let postgres: ServiceProcess | undefined;
  const stop = async (): Promise<void> => {
    await ferretDb.stop();
    await postgres?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    postgres = await preparePostgres({ programs, dataDir, port: postgresPort }, fsync);
    await postgres.start();
    await ferretDb.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const database = postgres;
  return {
    url,
    dataDir,
    parts: { postgres: partOf(database), ferretDb: partOf(ferretDb) },
    stop,
    async kill(signal) {
      await Promise.all([database.kill(signal), ferretDb.kill(signal)]);
    },
    async restart() {
      await ferretDb.stop();
      await database.restart();
      await ferretDb.start();
    },
  };
}
