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
 * What speaks the protocol of MongoDB: the server of MONGODB_URL, else FerretDB.
 * A replica set in a container, where a Docker engine answers, would be a third source and belongs here, between the two.
 */
export function startMongoDb(options: FerretDbOptions = {}): Promise<MongoDbService> {
  const given = givenMongoDbUrl();
  return given === undefined ? startFerretDb(options) : Promise.resolve(givenMongoDb(given));
}
