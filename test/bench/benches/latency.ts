import type { Bench, OpenSide, Side } from '../harness/bench.ts';
import { openLoop } from '../harness/load.ts';
import { BROKER, brokerOf, type ClusterStand, clusterStand } from '../http/cluster-stand.ts';
import { httpSide } from '../http/http-side.ts';
import { startGatewayOnKafka } from '../http/product-target.ts';
import { createRecords } from '../kafka-log.ts';
import { batching, connectKafkajs } from '../peers/raw-kafkajs.ts';
import { compareStored, countIds, makeTopic, PARTITIONS } from '../peers/topic.ts';
import { secondsOf } from '../warm-up.ts';

const stand = clusterStand({ version: '4.3.1' });
const SATURATING = 64;
const GATEWAY = 'carillon gateway';
const RAW = 'kafkajs in batches';

/** The rate that saturates the gateway, found while it warms up; both sides are loaded with half of it. */
let saturation = Number.NaN;

/** The warm-up saturates the gateway; the rounds that count load it half. */
function gateway(): Side {
  const options = {
    name: GATEWAY,
    syncs: BROKER,
    stand,
    shares: brokerOf,
    start: ({ services }: ClusterStand) => startGatewayOnKafka(services),
    load: (seconds: number) =>
      Number.isNaN(saturation) ? { open: SATURATING, seconds } : { rate: saturation / 2, seconds },
  };
  const side = httpSide(options);
  return {
    ...side,
    async open() {
      saturation = Number.NaN;
      const opened = await side.open();
      return {
        ...opened,
        async round(round) {
          if (round.number > 0) return opened.round(round);
          // Twice: the first is slower than it will be.
          await opened.round(round);
          const { done, seconds } = await opened.round({ number: 1, seconds: round.seconds });
          saturation = done / seconds;
          return { done, seconds };
        },
      };
    },
  };
}

/** The same records at the same rate, without HTTP and without a check: the time from when each is due to its acknowledgement. */
const raw: Side = {
  name: RAW,
  syncs: BROKER,
  async open(): Promise<OpenSide> {
    const on = await stand.take();
    const { brokers } = on.services.kafka;
    const topic = `bench.raw-latency.${Date.now()}`;
    await makeTopic(brokers, topic);
    const producer = await connectKafkajs(brokers, topic);
    const append = batching(producer);
    const records = createRecords('raw', PARTITIONS);
    const appended: string[] = [];
    return {
      processes: { bench: process.pid, ...brokerOf(on) },
      round: (round) =>
        openLoop({ rate: saturation / 2, seconds: secondsOf(round) }, async () => {
          const record = records.next();
          await append(record);
          appended.push(record.key);
        }),
      async verify() {
        return compareStored(appended, await countIds(brokers, topic, ({ header }) => header('event_id')));
      },
      async close() {
        await producer.disconnect();
        await stand.release();
      },
    };
  },
};

export const latency: Bench = {
  name: 'latency',
  title: 'How long a 202 takes at half load',
  what: `The gateway is saturated over ${SATURATING} connections while it warms up. In the rounds that count, events come at half of that rate, each at its time
whether or not those before it are answered; a delay counts from when an event was due. Beside it stand the same records at the same rate through
kafkajs alone, idempotent, one \`send\` at a time with all that came meanwhile. One broker, Kafka 4.3; every acknowledged record is looked for afterwards.`,
  cases: [
    {
      title: 'Kafka, half load',
      counted: 'events',
      delays: 'from when an event was due to its acknowledgement',
      sides: [gateway(), raw],
      comparisons: [{ side: GATEWAY, to: RAW, measure: 'p99', wanted: 'at most', floor: 3, goal: 2 }],
    },
  ],
};
