import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import {
  createPostgresDatabase,
  startConnect,
  startKafka,
  startPostgres,
  type ConnectService,
  type KafkaService,
  type PostgresService,
} from '../../src/services/index.ts';

const TIMEOUT = 300_000;

describeWith(['debezium', 'postgres'], 'Kafka Connect for tests', () => {
  let postgres: PostgresService;
  let kafka: KafkaService;
  let connect: ConnectService;
  beforeAll(async () => {
    [postgres, kafka] = await Promise.all([
      startPostgres(),
      startKafka({ properties: { 'auto.create.topics.enable': 'true' } }),
    ]);
    const database = await createPostgresDatabase(postgres.url);
    await database.run('CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1)');
    const connector = {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'plugin.name': 'pgoutput',
      'database.hostname': '127.0.0.1',
      'database.port': String(postgres.port),
      'database.user': 'postgres',
      'database.dbname': database.name,
      'topic.prefix': 'app',
    };
    connect = await startConnect({ brokers: kafka.brokers, connectors: { app: connector } });
  }, TIMEOUT);
  afterAll(async () => {
    await connect?.stop();
    await Promise.all([kafka?.stop(), postgres?.stop()]);
  }, TIMEOUT);

  it(
    'runs Debezium, and writes the offsets of its connectors',
    async () => {
      await expect.poll(() => existsSync(connect.offsets), { timeout: TIMEOUT }).toBe(true);
    },
    TIMEOUT,
  );

  it(
    'starts its connectors again after kill -9',
    async () => {
      await connect.kill();
      await connect.restart();
      const answer = await fetch(`${connect.url}/connectors`);
      expect(await answer.json()).toEqual(['app']);
    },
    TIMEOUT,
  );

  it(
    'leaves nothing behind when it is stopped',
    async () => {
      const { dataDir } = connect;
      await connect.stop();
      expect(existsSync(dataDir) && readdirSync(dataDir)).toBe(false);
    },
    TIMEOUT,
  );
});
