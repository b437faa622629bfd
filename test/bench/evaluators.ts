import { startCluster, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { canStart } from '@carillon/testing/services/needs';
import type { OrderEvent } from './corpus.ts';
import { CannotRun, type OpenSide, type Side } from './harness/bench.ts';
import { BROKER } from './http/cluster-stand.ts';
import { createRecords, type EventRecord } from './kafka-log.ts';
import { connectKafkajs } from './peers/raw-kafkajs.ts';
import { followTopic, PARTITIONS } from './peers/topic.ts';
import { configure } from './product.ts';
import { countFired, ruleFiles } from './rule-set.ts';
import { shared, type Shared } from './started-once.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { secondsOf } from './warm-up.ts';

/** What an engine forces to disk. */
export const ENGINE_SYNCS = `${BROKER}; checkpoints: FerretDB's PostgreSQL, fsync off`;

/** They wait on the log before the time begins; a round has as many such backlogs as its time takes. */
export const EVENTS = 20_000;
const BATCH = 500;

/** What engines stand on, as the product expects it: for one cluster. */
export const engineStand = (): Shared<ClusterServices> =>
  shared(
    async () => {
      const missing = (['kafka', 'mongodb', 'registry'] as const).filter((name) => !canStart(name));
      if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
      return startClusterServices();
    },
    (services) => services.stop(),
  );

/** Processes that read one topic and write another. */
export type Evaluator = {
  readonly input: string;
  readonly output: string;
  /** Process id by name. */
  readonly processes: Readonly<Record<string, number>>;
  kill(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
};

const fired = new WeakMap<Buffer, number>();
function countFor({ value }: EventRecord): number {
  const known = fired.get(value) ?? countFired(JSON.parse(value.toString()) as OrderEvent);
  fired.set(value, known);
  return known;
}

export type EvaluatingOptions = {
  readonly name: string;
  readonly syncs: string;
  /** Where it stands on a chart of growth. */
  readonly at?: number;
  readonly stand: Shared<ClusterServices>;
  readonly start: (services: ClusterServices) => Promise<Evaluator>;
};

/**
 * The evaluator is halted while a backlog is written, far shorter than its session lasts; the time begins when it goes
 * on and ends when a reader of what is committed has seen the last intent.
 */
export function evaluating({ name, syncs, at, stand, start }: EvaluatingOptions): Side {
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

    async function fill(): Promise<void> {
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
    }

    return {
      processes: { ...evaluator.processes, broker: services.kafka.nodes[0]?.pid ?? 0 },
      async round(round) {
        let done = 0;
        let seconds = 0;
        for (const enough = secondsOf(round); seconds < enough; done += EVENTS) {
          await fill();
          const begun = performance.now();
          await outcome.reach(expected);
          seconds += (performance.now() - begun) / 1000;
        }
        return { done, seconds };
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
  return { name, syncs, ...(at !== undefined && { at }), open };
}

/** `carillon run engine`, so many of them; control made the configuration and was ended. */
export async function startEngines(services: ClusterServices, count: number): Promise<Evaluator> {
  const folder = await temporaryFolder();
  const cluster = await startCluster({ services, dataDir: folder.path, members: { delivery: 0, engine: count } });
  await configure(cluster, ruleFiles);
  for (const role of ['control', 'gateway'] as const) for (const member of cluster.of(role)) await member.stop();
  const engines = cluster.of('engine');
  return {
    input: 'carillon.events',
    output: 'carillon.intents',
    processes: Object.fromEntries(engines.map(({ name, pid }) => [name, pid])),
    async kill(signal) {
      for (const engine of engines) await engine.kill(signal);
    },
    async close() {
      await cluster.stop();
      await folder.remove();
    },
  };
}
