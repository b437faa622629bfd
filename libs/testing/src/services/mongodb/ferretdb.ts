import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { ensureCached } from '../cache/cache-entry.ts';
import { freePorts } from '../process/free-ports.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service, ServicePart } from '../service.ts';
import { FERRETDB_RELEASE, ferretDbProgram } from './ferretdb-release.ts';
import { preparePostgres } from '../postgres/postgres-process.ts';
import { DOCUMENTDB_RELEASE, postgresProgram } from '../postgres/postgres-release.ts';

export type FerretDbOptions = {
  /** Whether PostgreSQL waits for the disk. Only a loss of power shows the difference, so it does not unless told. */
  readonly fsync?: boolean;
  /** Hears of a download. */
  readonly say?: Say;
  /** Its only user. The URL does not contain the credentials. Defaults to no authentication. */
  readonly credentials?: MongoDbCredentials;
};

export type MongoDbCredentials = { readonly username: string; readonly password: string };

export type MongoDbService = Service & { readonly url: string };

export type FerretDbService = MongoDbService & {
  readonly parts: { readonly postgres: ServicePart; readonly ferretDb: ServicePart };
};

type Places = { readonly programs: string; readonly dataDir: string; readonly port: number };

const psql = (places: Places, statement: string): Promise<unknown> =>
  promisify(execFile)(
    postgresProgram(places.programs, DOCUMENTDB_RELEASE, 'psql'),
    ['-h', '127.0.0.1', '-p', String(places.port), '-U', 'postgres', '-X', '-q', '-A', '-t', '-c', statement],
    { env: { ...process.env, PGCONNECT_TIMEOUT: '2', PGOPTIONS: '-c client_min_messages=error' }, timeout: 20_000 },
  );

const prepareDatabase = (places: Places, fsync: boolean): Promise<ServiceProcess> =>
  preparePostgres({
    ...places,
    release: DOCUMENTDB_RELEASE,
    locale: ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    settings: {
      shared_preload_libraries: 'pg_cron,pg_documentdb_core,pg_documentdb',
      'cron.database_name': 'postgres',
      // Inserts of one and the same unique key block each other; with the usual second each such knot would cost a second.
      deadlock_timeout: '10ms',
      fsync: fsync ? 'on' : 'off',
      max_connections: 200,
    },
    isReady: async () => {
      await psql(places, 'create extension if not exists documentdb cascade');
      return true;
    },
  });

const createUser = (places: Places, { username, password }: MongoDbCredentials): Promise<unknown> => {
  const roles = ['readWriteAnyDatabase', 'clusterAdmin'].map((role) => ({ role, db: 'admin' }));
  const command = JSON.stringify({ createUser: username, pwd: password, roles });
  return psql(places, `select documentdb_api.create_user('${command.replaceAll("'", "''")}')`);
};

async function answersPing(url: string, credentials?: MongoDbCredentials): Promise<boolean> {
  const client = new MongoClient(url, {
    ...(credentials && { auth: credentials }),
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
export async function startFerretDb({
  fsync = false,
  say,
  credentials,
}: FerretDbOptions = {}): Promise<FerretDbService> {
  const programs = await ensureCached(DOCUMENTDB_RELEASE, say);
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
        ...(credentials ? [] : ['--no-auth']),
        '--telemetry=disable',
        '--debug-addr=-',
        '--log-level=error',
      ],
      log: join(dataDir, 'ferretdb.log'),
    },
    isReady: () => answersPing(url, credentials),
  });
  let postgres: ServiceProcess | undefined;
  const stop = async (): Promise<void> => {
    await ferretDb.stop();
    await postgres?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    postgres = await prepareDatabase({ programs, dataDir, port: postgresPort }, fsync);
    await postgres.start();
    if (credentials) await createUser({ programs, dataDir, port: postgresPort }, credentials);
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
