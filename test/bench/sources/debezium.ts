import { untilFound } from '@carillon/testing';
import { startConnect, startKafka, type ConnectService } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { CannotRun } from '../harness/bench.ts';
import { makeTopic } from '../peers/topic.ts';
import { createOrderDatabase, type OrderDatabase } from './order-database.ts';
import { openTopicEnds, type TopicEnds } from './row-topic.ts';

export const DEBEZIUM = 'Debezium to its topic';
export const DEBEZIUM_SYNCS = 'Kafka does not force records to disk; offsets of the connector are written every 0.5 s';

const TOPIC = 'bench.public.orders';

/** Heaps and collector of Kafka's own start scripts. */
const KAFKA_JAVA = ['-Xms1g', '-Xmx1g', '-XX:-UseSerialGC', '-XX:+UseG1GC', '-XX:TieredStopAtLevel=4'];
const CONNECT_JAVA = ['-Xms256m', '-Xmx2g', '-XX:-UseSerialGC', '-XX:+UseG1GC', '-XX:TieredStopAtLevel=4'];

/** Kafka, and Kafka Connect with a connector that reads a table of orders. */
export type ReadingDebezium = {
  readonly orders: OrderDatabase;
  readonly connect: ConnectService;
  readonly processes: Readonly<Record<'Kafka' | 'Kafka Connect', number>>;
  readonly ends: TopicEnds;
  readonly close: () => Promise<void>;
};

export async function startReadingDebezium(): Promise<ReadingDebezium> {
  const missing = (['kafka', 'debezium'] as const).filter((name) => !canStart(name));
  if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
  const orders = await createOrderDatabase();
  const kafka = await startKafka({ javaArguments: KAFKA_JAVA });
  await makeTopic(kafka.brokers, TOPIC, 1);
  const { hostname, port, username } = new URL(orders.database.url);
  const slot = `debezium_${orders.database.name}`;
  const json = 'org.apache.kafka.connect.json.JsonConverter';
  const connect = await startConnect({
    brokers: kafka.brokers,
    javaArguments: CONNECT_JAVA,
    connectors: {
      orders: {
        'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
        'plugin.name': 'pgoutput',
        'database.hostname': hostname,
        'database.port': port,
        'database.user': username,
        'database.dbname': orders.database.name,
        'topic.prefix': 'bench',
        'slot.name': slot,
        'publication.name': slot,
        'publication.autocreate.mode': 'filtered',
        'table.include.list': 'public.orders',
        'snapshot.mode': 'no_data',
        // A tenth of the default, which a change would wait for.
        'poll.interval.ms': '50',
        'key.converter': json,
        'value.converter': json,
        'key.converter.schemas.enable': 'false',
        'value.converter.schemas.enable': 'false',
      },
    },
  });
  await untilFound('the slot', async () => {
    const rows = await orders.database.run('SELECT 1 FROM pg_replication_slots WHERE slot_name = $1 AND active', [
      slot,
    ]);
    return rows.length > 0 ? true : undefined;
  });
  const ends = await openTopicEnds(kafka.brokers, TOPIC);
  return {
    orders,
    connect,
    processes: { Kafka: kafka.nodes[0]?.pid ?? 0, 'Kafka Connect': connect.pid },
    ends,
    async close() {
      await ends.close();
      await connect.stop();
      await kafka.stop();
      await orders.close();
    },
  };
}
