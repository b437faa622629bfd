import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import type { MongoDbService } from './ferretdb.ts';

const run = promisify(execFile);

const IMAGE = 'mongo:8.0';
const ANSWERS_WITHIN = 30_000;
const FETCHED_WITHIN = 180_000;
const PRIMARY_WITHIN = 120_000;
/** A test process that was killed leaves its container behind: it ends by itself. */
const ENDS_AFTER = '2h';

const cannot = (what: string) => (): Promise<never> =>
  Promise.reject(new Error(`a replica set in a container cannot be ${what} from here: start a FerretDB`));

const docker = async (args: readonly string[], timeout: number): Promise<string> =>
  (await run('docker', args, { timeout })).stdout.trim();

/** Whether a Docker engine answers here. */
export const hasDocker = (): Promise<boolean> =>
  docker(['version', '--format', '{{.Server.Version}}'], ANSWERS_WITHIN).then(
    (version) => version !== '',
    () => false,
  );

/**
 * MongoDB itself, as a replica set of one in a container. By the engine's own command and not by a library: a hundred
 * packages less for everybody who installs us. Rejects where the image cannot be fetched or the set has no primary in time.
 */
export async function startReplicaSet(): Promise<MongoDbService> {
  await docker(['pull', '--quiet', IMAGE], FETCHED_WITHIN);
  const server = ['mongod', '--replSet', 'carillon', '--bind_ip_all'];
  const how = ['run', '--detach', '--rm', '--label', 'carillon-test', '--publish', '127.0.0.1::27017'];
  const container = await docker([...how, '--entrypoint', 'timeout', IMAGE, ENDS_AFTER, ...server], FETCHED_WITHIN);
  const command = async (...args: readonly string[]): Promise<void> => void (await docker(args, PRIMARY_WITHIN));
  try {
    const published = await docker(['port', container, '27017/tcp'], ANSWERS_WITHIN);
    const url = `mongodb://127.0.0.1:${published.split(':').at(-1)}/?directConnection=true`;
    await electPrimary(url);
    return {
      url,
      dataDir: '',
      kill: cannot('killed'),
      restart: cannot('restarted'),
      stop: () => command('rm', '--force', '--volumes', container),
    };
  } catch (error) {
    await command('rm', '--force', '--volumes', container).catch(() => undefined);
    throw error;
  }
}

async function electPrimary(url: string): Promise<void> {
  const deadline = Date.now() + PRIMARY_WITHIN;
  const client = new MongoClient(url, { serverSelectionTimeoutMS: PRIMARY_WITHIN });
  try {
    const admin = client.db('admin');
    await admin.command({
      replSetInitiate: { _id: 'carillon', members: [{ _id: 0, host: '127.0.0.1:27017' }] },
    });
    for (;;) {
      const { isWritablePrimary } = await admin.command({ hello: 1 });
      if (isWritablePrimary) return;
      if (Date.now() > deadline) throw new Error(`no primary within ${PRIMARY_WITHIN} ms`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await client.close();
  }
}
