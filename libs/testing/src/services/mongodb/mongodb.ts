import { startInContainer } from '../containers/servers.ts';
import { startFerretDb, type FerretDbOptions, type MongoDbService } from './ferretdb.ts';
import { givenMongoDbUrl } from './mongodb-url.ts';

const cannot = (what: string) => (): Promise<never> =>
  Promise.reject(new Error(`MONGODB_URL names a server that we did not start: it cannot be ${what} from here`));

/** A server that is somebody else's. Tests that kill a database start a FerretDB of their own. */
const givenMongoDb = (url: string): MongoDbService => ({
  url,
  dataDir: '',
  stop: () => Promise.resolve(),
  kill: cannot('killed'),
  restart: cannot('restarted'),
});

/**
 * Starts a server with MongoDB's protocol: that of MONGODB_URL, else a replica set in a container if an engine runs and
 * has the image or can pull it, else FerretDB. Logs which one, unless it is FerretDB.
 */
export async function startMongoDb(options: FerretDbOptions = {}): Promise<MongoDbService> {
  const given = givenMongoDbUrl();
  if (given !== undefined) return givenMongoDb(given);
  return (await startInContainer('mongodb')) ?? startFerretDb(options);
}
