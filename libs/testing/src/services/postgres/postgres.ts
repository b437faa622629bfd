import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { ensureCached } from '../cache/cache-entry.ts';
import { freePorts } from '../process/free-ports.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import type { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service } from '../service.ts';
import { preparePostgres } from './postgres-process.ts';
import { DOCUMENTDB_RELEASE, POSTGRES_15_RELEASE } from './postgres-release.ts';

const RELEASES = { 15: POSTGRES_15_RELEASE, 18: DOCUMENTDB_RELEASE } as const;

export type PostgresOptions = {
  /** Major version. Defaults to 15, the version of the tests of sources. */
  readonly version?: keyof typeof RELEASES;
  /** Lines of `postgresql.conf`, beside `wal_level = logical` and many replication slots. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The server offers TLS with this certificate (PEM). Clients may still connect without. */
  readonly security?: { readonly cert: string; readonly key: string };
  /** Hears of a download. */
  readonly say?: Say;
};

export type PostgresService = Service & {
  /** `postgres://postgres@127.0.0.1:<port>/postgres`. The role `postgres` needs no password; any other role needs its own. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The server's log. */
  readonly log: string;
};

const HBA = `host all,replication postgres 127.0.0.1/32 trust
host all,replication all 127.0.0.1/32 scram-sha-256
`;

const SETTINGS = {
  wal_level: 'logical',
  max_wal_senders: 200,
  max_replication_slots: 200,
  max_connections: 300,
  shared_buffers: '32MB',
  // Only a loss of power shows the difference.
  fsync: 'off',
};

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end();
  }
}

/** PostgreSQL on a free port of the loopback interface, ready for logical replication. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresService> {
  const { version = 15, settings, security, say } = options;
  const release = RELEASES[version];
  const programs = await ensureCached(release, say);
  const dataDir = await createServiceFolder('postgres');
  const [port = 0] = await freePorts(1);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ServiceProcess | undefined;
  const stop = async (): Promise<void> => {
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    server = await preparePostgres({
      release,
      programs,
      dataDir,
      port,
      locale: ['--locale=C'],
      settings: { ...SETTINGS, ...(security && { ssl: 'on' }), ...settings },
      hba: HBA,
      ...(security && { files: { 'server.crt': security.cert, 'server.key': security.key } }),
      isReady: () => answers(url),
    });
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const process = server;
  return {
    url,
    port,
    dataDir,
    log: join(dataDir, 'postgres.log'),
    get pid() {
      return process.pid;
    },
    stop,
    kill: (signal) => process.kill(signal),
    restart: () => process.restart(),
  };
}
