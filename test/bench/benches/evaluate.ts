import { startCluster, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { canStart } from '@carillon/testing/services/needs';
import type { OrderEvent } from '../corpus.ts';
import { type Bench, CannotRun, type OpenSide, type Side } from '../harness/bench.ts';
import { BROKER } from '../http/cluster-stand.ts';
import { createRecords, type EventRecord } from '../kafka-log.ts';
import { startStreams } from '../peers/kafka-streams/start.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { followTopic, makeTopic, PARTITIONS } from '../peers/topic.ts';
import { configure } from '../product.ts';
import { countFired, OF_EACH_SHAPE, ruleFiles } from '../rule-set.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Events of a round: they wait on the log before it begins. */
const EVENTS = 10_000;
const BATCH = 500;

const stand = shared<ClusterServices>(
  async () => {
    const missing = (['kafka', 'mongodb', 'registry'] as const).filter((name) => !canStart(name));
    if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
    return startClusterServices();
  },
  (services) => services.stop(),
);

/** A process that reads one topic and writes another. */
type Evaluator = {
  readonly input: string;
  readonly output: string;
  readonly name: string;
  readonly pid: number;
  kill(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
};

const fired = new WeakMap<Buffer, number>();
function countFor({ value }: EventRecord): number {
  const known = fired.get(value) ?? countFired(JSON.parse(value.toString()) as OrderEvent);
  fired.set(value, known);
  return known;
}

/**
 * The evaluator is halted while the events of a round are written, far shorter than its session lasts; the time begins
 * when it goes on and ends when a reader of what is committed has seen the last intent.
 */
function evaluating(name: string, syncs: string, start: (services: ClusterServices) => Promise<Evaluator>): Side {
  async function open(): Promise<OpenSide> {
    const services = await stand.take();
    let evaluator: Evaluator;
    try {
      evaluator = await start(services);
    } catch (error) {
      await stand.release();
      throw error;
    }
    const { brokers } = services.kafka;
    const producer = await connectKafkajs(brokers, evaluator.input);
    const outcome = await followTopic(brokers, evaluator.output);
    const records = createRecords(name.replaceAll(/\W+/g, '-'), PARTITIONS);
    let expected = 0;
    return {
      processes: { [evaluator.name]: evaluator.pid, broker: services.kafka.nodes[0]?.pid ?? 0 },
      async round() {
        await evaluator.kill('SIGSTOP');
        try {
          for (let written = 0; written < EVENTS; written += BATCH) {
            const batch = Array.from({ length: BATCH }, records.next);
            for (const record of batch) expected += countFor(record);
            await producer.send(batch);
          }
        } finally {
          await evaluator.kill('SIGCONT');
        }
        const begun = performance.now();
        await outcome.reach(expected);
        return { done: EVENTS, seconds: (performance.now() - begun) / 1000 };
      },
      async verify() {
        const total = [...outcome.keys.values()].reduce((sum, count) => sum + count, 0);
        return total === expected && outcome.keys.size === expected
          ? []
          : [`${expected} intents were due; ${total} came, ${outcome.keys.size} of them different ones`];
      },
      async close() {
        await Promise.all([producer.disconnect(), outcome.stop()]);
        await evaluator.close();
        await stand.release();
      },
    };
  }
  return { name, syncs, open };
}

/** `carillon run engine`; control made the configuration and was ended. */
async function startEngine(services: ClusterServices): Promise<Evaluator> {
  const folder = await temporaryFolder();
  const cluster = await startCluster({ services, dataDir: folder.path, members: { delivery: 0 } });
  await configure(cluster, ruleFiles);
  for (const role of ['control', 'gateway'] as const) for (const member of cluster.of(role)) await member.stop();
  const [engine] = cluster.of('engine');
  if (!engine) throw new Error('there is no engine');
  return {
    input: 'carillon.events',
    output: 'carillon.intents',
    name: 'engine',
    pid: engine.pid,
    kill: (signal) => engine.kill(signal),
    async close() {
      await cluster.stop();
      await folder.remove();
    },
  };
}

async function startPeer({ kafka: { brokers } }: ClusterServices): Promise<Evaluator> {
  const input = `bench.streams-events.${Date.now()}`;
  const output = `bench.streams-intents.${Date.now()}`;
  await makeTopic(brokers, input);
  await makeTopic(brokers, output);
  const running = await startStreams({ brokers, input, output, rulesOfEachShape: OF_EACH_SHAPE });
  return {
    input,
    output,
    name: 'streams',
    pid: running.pid,
    kill: (signal) => running.kill(signal),
    close: () => running.stop(),
  };
}

export const evaluate: Bench = {
  name: 'evaluate',
  title: 'Evaluating events on Kafka',
  what: `${EVENTS.toLocaleString('en')} events of 732 bytes wait on a topic of 8 partitions (one broker, Kafka 4.3); ${OF_EACH_SHAPE * 5} rules of the five shapes judge each of them, and
about one in five gives an intent that carries the whole event. \`carillon run engine\` works at least once with ids that make repeats harmless, and keeps its checkpoints in FerretDB; the
Kafka Streams program in \`test/bench/peers/kafka-streams\` has the same rules as lambdas over Jackson, one thread and \`exactly_once_v2\`. The time ends when a reader of
what is committed has seen the last intent. Every intent that is due has to be there once; what is due is counted by closures written by hand.`,
  cases: [
    {
      title: '100 rules',
      counted: 'events',
      sides: [
        evaluating('carillon engine', `${BROKER}; checkpoints: FerretDB's PostgreSQL, each commit`, startEngine),
        evaluating('Kafka Streams', BROKER, startPeer),
      ],
      comparisons: [
        { side: 'carillon engine', to: 'Kafka Streams', measure: 'rate', wanted: 'at least', floor: 0.3, goal: 0.5 },
      ],
    },
  ],
};
