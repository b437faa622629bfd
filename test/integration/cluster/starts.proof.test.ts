import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECORD_SCHEMAS } from '@carillon/contracts';
import { cli, startProduct, type CliAnswer } from '@carillon/testing';
import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { KAFKA_API, startKafkaProxy } from '@carillon/testing/faults';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { connectForeignProgram, type ForeignProgram } from './foreign-program.ts';

const TIMEOUT = 300_000;
type Settings = Readonly<Record<string, string>>;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-starts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A start that is expected to fail, with all that it says. */
const start = (env: Settings, role: readonly string[] = ['up', '--gateway-port', '0', '--control-port', '0']) =>
  cli(role, { env, cwd: folder, dataDir: join(folder, 'data') });
/** What it says, without the name of the program and the lines that tell of the way there. */
const said = ({ stderr }: CliAnswer): string => stderr.slice(stderr.lastIndexOf('carillon: '));

const NOWHERE: Settings = {
  CARILLON_BROKERS: '127.0.0.1:9',
  CARILLON_MONGODB_URL: 'mongodb://127.0.0.1:9/',
  CARILLON_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:9',
};

describe('A start on a cluster', () => {
  it('reports every invalid setting at once by name, and exits with code 2', async () => {
    const { code, stderr } = await start({
      CARILLON_BROKERS: 'kafka-1',
      CARILLON_SINGLE_BROKER: 'perhaps',
      CARILLON_KAFKA_SASL_MECHANISM: 'magic',
      CARILLON_MONGODB_URL: 'postgres://user:secret-word@host/',
      CARILLON_MONGODB_CA_FILE: 'nowhere.pem',
      CARILLON_SCHEMA_REGISTRY_URL: 'registry:8081',
      CARILLON_GATEWAY_PORT: '70000',
      CARILLON_LOG_LEVEL: 'loud',
    });
    expect(code).toBe(2);
    for (const name of [
      'CARILLON_BROKERS',
      'CARILLON_SINGLE_BROKER',
      'CARILLON_KAFKA_SASL_MECHANISM',
      'CARILLON_KAFKA_USERNAME',
      'CARILLON_KAFKA_PASSWORD',
      'CARILLON_MONGODB_URL',
      'CARILLON_MONGODB_CA_FILE',
      'CARILLON_SCHEMA_REGISTRY_URL',
      'CARILLON_LOG_LEVEL',
    ]) {
      expect(stderr, name).toContain(name);
    }
    expect(stderr).not.toContain('secret-word');
  });

  it('says that a role of its own needs a cluster', async () => {
    const { code, stderr } = await start({}, ['run', 'engine']);
    expect(code).toBe(2);
    expect(stderr).toContain('the embedded backend is for one process: npx carillon up');
  });

  it('says within a minute that no broker answers, and ends with 1', async () => {
    const began = performance.now();
    const answer = await start(NOWHERE);
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(answer.code, answer.stderr).toBe(1);
    expect(said(answer)).toContain('127.0.0.1:9');
  });
});

describeWith(['kafka', 'mongodb', 'registry'], 'A start is refused', () => {
  let services: ClusterServices;
  let good: Settings;
  let foreign: ForeignProgram;
  beforeAll(async () => {
    services = await startClusterServices();
    good = settingsFor(services);
    foreign = await connectForeignProgram(services.kafka.brokers);
  }, TIMEOUT);
  afterAll(async () => {
    await foreign?.leave();
    await services?.stop();
  }, TIMEOUT);

  const refused = async (env: Settings, ...words: readonly string[]): Promise<CliAnswer> => {
    const answer = await start({ ...good, ...env });
    expect(answer.code, answer.stderr).not.toBe(0);
    for (const word of words) expect(said(answer)).toContain(word);
    return answer;
  };
  const startsWell = async (): Promise<void> => {
    const product = await startProduct({ dataDir: join(folder, 'data'), cwd: folder, env: good });
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  };

  it(
    'by a broker that is too old, before anything is made on it',
    async () => {
      const proxy = await startKafkaProxy(services.kafka.brokers);
      proxy.age = new Map([[KAFKA_API.produce, 2]]);
      await refused(
        { CARILLON_BROKERS: proxy.brokers.join(',') },
        'is too old: Produce 2 (needs 7). Carillon runs on Kafka 3.9 and newer',
      );
      await proxy.stop();
      expect(await foreign.admin.listTopics()).toEqual([]);
    },
    TIMEOUT,
  );

  it(
    'if three copies are impossible and single_broker is not set',
    async () => {
      await refused(
        { CARILLON_SINGLE_BROKER: 'false' },
        'the topics need 3 copies and the cluster has 1 broker',
        'set single_broker: true',
      );
      expect(await foreign.admin.listTopics()).toEqual([]);
    },
    TIMEOUT,
  );

  it(
    'by a schema in the registry that today’s program cannot read',
    async () => {
      const { subject } = RECORD_SCHEMAS.intent;
      const url = `${services.registry.url}/subjects/${subject}`;
      const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
      const other = { type: 'record', name: 'Intent', fields: [{ name: 'only', type: 'string' }] };
      const body = JSON.stringify({ schema: JSON.stringify(other) });
      await fetch(`${url}/versions`, { method: 'POST', headers, body });
      await refused({}, subject, 'is another, newer version of Carillon in use?');
      await fetch(url, { method: 'DELETE' });
    },
    TIMEOUT,
  );

  it(
    'in bounded time by a database or a registry that does not answer, each by its name',
    async () => {
      const database = await refused(
        { CARILLON_MONGODB_URL: 'mongodb://127.0.0.1:9/' },
        'The database is unavailable now: 127.0.0.1:9',
        'ECONNREFUSED',
      );
      expect(database.code).toBe(1);
      const registry = await refused(
        { CARILLON_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:9' },
        'schema registry 127.0.0.1:9',
        'ECONNREFUSED',
      );
      expect(registry.code).toBe(1);
    },
    TIMEOUT,
  );

  it(
    'by an index that differs, by its name, and nothing is changed',
    async () => {
      await startsWell();
      const client = new MongoClient(services.mongodb.url);
      const deliveries = client.db('carillon').collection('deliveries');
      await deliveries.dropIndex('slot');
      await deliveries.createIndex({ workspace: 1, notificationId: 1, channel: 1, uniqueId: 1 }, { name: 'slot' });
      const { code } = await refused({}, 'deliveries', 'slot', 'unique');
      expect(code).toBe(1);
      const found = (await deliveries.indexes()).find(({ name }) => name === 'slot');
      expect(found?.unique ?? false).toBe(false);
      await deliveries.dropIndex('slot');
      await client.close();
      // One that is missing is made.
      await startsWell();
    },
    TIMEOUT,
  );

  it.each([
    ['CARILLON_LEDGER_KEY', 'keys/ledger.key is not the key', 'or give CARILLON_LEDGER_KEY'],
    ['CARILLON_API_KEY_PEPPER', 'keys/api-key-pepper.key is not the key', 'or give CARILLON_API_KEY_PEPPER'],
    ['CARILLON_MASTER_KEY', 'does not open with the master key of this process', 'npx carillon secret rotate'],
  ])(
    'to a process whose %s is another one',
    async (variable, ...words) => {
      const other = Buffer.alloc(32, 7).toString('base64');
      const { code } = await refused({ [variable]: other }, ...words);
      expect(code).toBe(1);
    },
    TIMEOUT,
  );

  it(
    'where partitions were added to a topic, or a topic is gone',
    async () => {
      await foreign.admin.createPartitions({ topicPartitions: [{ topic: 'carillon.triggers', count: 9 }] });
      await refused({}, 'carillon.triggers: partitions is 9, wanted 8', 'Nothing was changed');
      await foreign.admin.deleteTopics({ topics: ['carillon.triggers'] });
      const { code } = await refused({}, 'carillon.triggers', 'that topic is gone', 'Restore it, or delete all topics');
      expect(code).toBe(1);
      expect(await foreign.admin.listTopics()).not.toContain('carillon.triggers');
    },
    TIMEOUT,
  );
});
