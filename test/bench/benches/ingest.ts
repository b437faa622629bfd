import type { Bench, BenchCase, Comparison, Side } from '../harness/bench.ts';
import { BROKER, brokerOf, type ClusterStand, clusterStand } from '../http/cluster-stand.ts';
import { httpSide, type HttpSideOptions } from '../http/http-side.ts';
import { startHttpLoad } from '../http/load.ts';
import { startGatewayOnKafka, startUpEmbedded } from '../http/product-target.ts';
import { startAiohttp, startBareFastify, startFastifySend, startNginx } from '../peers/http-peers.ts';
import { shared } from '../started-once.ts';

/** Kafka 3.9, because lua-kafka cannot speak to 4.x: all sides have the same broker. */
const VERSION = '3.9.2';
const SQLITE = 'each commit of the writer, which takes all that waits (SQLite, WAL, synchronous=FULL)';
const STORES_NOTHING = 'nothing: it stores nothing';

const onCluster = clusterStand({ version: VERSION });
const alone = shared(
  async () => ({ load: startHttpLoad() }),
  ({ load }) => load.stop(),
);

/** As many requests are open at any time as there are connections. */
const closed = (connections: number) => (seconds: number) => ({ open: connections, seconds });

const kafkaSides = (connections: number): readonly Side[] => {
  const side = (name: string, start: HttpSideOptions<ClusterStand>['start'], syncs = BROKER): Side =>
    httpSide({ name, syncs, stand: onCluster, start, load: closed(connections), shares: brokerOf });
  return [
    side('carillon gateway', ({ services }) => startGatewayOnKafka(services)),
    side('bare fastify', startBareFastify, STORES_NOTHING),
    side('fastify, a send each', ({ services }) => startFastifySend(services.kafka.brokers, false)),
    side('fastify, an idempotent send each', ({ services }) => startFastifySend(services.kafka.brokers, true)),
    side('nginx with lua-kafka', ({ services }) => startNginx(services.kafka.brokers)),
    side('aiohttp with confluent-kafka', ({ services }) => startAiohttp(services.kafka.brokers)),
  ];
};

const above = (side: string, to: string, floor: number, goal: number): Comparison => ({
  side,
  to,
  measure: 'rate',
  wanted: 'at least',
  floor,
  goal,
});

const onKafka = (connections: number): BenchCase => ({
  title: `Kafka, ${connections} connections`,
  counted: 'events',
  delays: 'from the request to its 202',
  sides: kafkaSides(connections),
  comparisons: [
    above('carillon gateway', 'bare fastify', 0.45, 0.6),
    { side: 'carillon gateway', to: 'fastify, a send each', measure: 'rate', wanted: 'at least' },
    above('carillon gateway', 'nginx with lua-kafka', 0.3, 0.5),
    above('carillon gateway', 'aiohttp with confluent-kafka', 1.5, 2.5),
  ],
});

const embedded = (connections: number): BenchCase => {
  const side = (name: string, syncs: string, start: () => ReturnType<typeof startUpEmbedded>): Side =>
    httpSide({ name, syncs, stand: alone, start, load: closed(connections), shares: () => ({}) });
  return {
    title: `embedded, ${connections} connections`,
    counted: 'events',
    delays: 'from the request to its 202',
    sides: [
      side('carillon up', SQLITE, () => startUpEmbedded()),
      side('bare fastify', STORES_NOTHING, startBareFastify),
    ],
    comparisons: [above('carillon up', 'bare fastify', 0.45, 0.6)],
  };
};

const CONNECTIONS = [64, 256] as const;
const HALF_LOAD = 'carillon gateway, half load';

/** The warm-up measures the rate at saturation. The counted rounds offer half of that rate. */
function halfLoad(): Side {
  let saturation: number | null = null;
  const side = httpSide({
    name: HALF_LOAD,
    syncs: BROKER,
    stand: onCluster,
    start: ({ services }) => startGatewayOnKafka(services),
    load: (seconds) => (saturation === null ? { open: CONNECTIONS[0], seconds } : { rate: saturation / 2, seconds }),
    shares: brokerOf,
  });
  return {
    ...side,
    async open() {
      saturation = null;
      const opened = await side.open();
      return {
        ...opened,
        async round(round) {
          const reading = await opened.round(round);
          if (round.number === 0) saturation = reading.done / reading.seconds;
          return reading;
        },
      };
    },
  };
}

export const ingest: Bench = {
  name: 'ingest',
  title: 'Taking events over HTTP',
  what: `Events of 732 bytes are posted over 64 and over 256 connections; each connection sends its next one when the last is answered.
Each has an Idempotency-Key of its own. Carillon checks the API key, the body and its JSON, and answers 202 when the event is on the log.
What a peer does stands in its program in \`test/bench/peers\`: none but Carillon checks a key or reads the JSON. Behind Kafka is one broker,
${VERSION}, for all sides, with 8 partitions each; of Carillon, the gateway alone runs there, and \`carillon up\` with all its roles on the embedded backend.
Afterwards each log is read: whatever was answered with 202 has to stand there exactly once. At half load, events come at half of the rate that
saturates the gateway, each at its time; a delay counts from that time.`,
  cases: [
    ...CONNECTIONS.map(onKafka),
    ...CONNECTIONS.map(embedded),
    {
      title: 'Kafka, half load',
      counted: 'events',
      delays: 'from when an event was due to its 202',
      sides: [halfLoad()],
      comparisons: [{ side: HALF_LOAD, measure: 'p99', wanted: 'at most' }],
    },
  ],
};
