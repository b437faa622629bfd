import type { ClusterServices } from '@carillon/testing/cluster';
import { ENGINE_SYNCS, engineStand, evaluating, type Evaluator, EVENTS, startEngines } from '../evaluators.ts';
import type { Bench } from '../harness/bench.ts';
import { BROKER } from '../http/cluster-stand.ts';
import { startStreams } from '../peers/kafka-streams/start.ts';
import { makeTopic } from '../peers/topic.ts';
import { OF_EACH_SHAPE } from '../rule-set.ts';

const stand = engineStand();

async function startPeer({ kafka: { brokers } }: ClusterServices): Promise<Evaluator> {
  const input = `bench.streams-events.${Date.now()}`;
  const output = `bench.streams-intents.${Date.now()}`;
  await makeTopic(brokers, input);
  await makeTopic(brokers, output);
  const running = await startStreams({ brokers, input, output, rulesOfEachShape: OF_EACH_SHAPE });
  return {
    input,
    output,
    processes: { streams: running.pid },
    kill: (signal) => running.kill(signal),
    close: () => running.stop(),
  };
}

export const evaluate: Bench = {
  name: 'evaluate',
  title: 'Evaluating events on Kafka',
  what: `${EVENTS.toLocaleString('en')} events of 732 bytes wait on a topic of 8 partitions (one broker, Kafka 4.3), again and again until a round is over; ${OF_EACH_SHAPE * 5} rules of the five shapes judge each of them, and
about one in five gives an intent that carries the whole event. \`carillon run engine\` works at least once with ids that make repeats harmless, and keeps its checkpoints in FerretDB; the
Kafka Streams program in \`test/bench/peers/kafka-streams\` has the same rules as lambdas over Jackson, one thread and \`exactly_once_v2\`. The time ends when a reader of
what is committed has seen the last intent. Both sides work for ten seconds before it counts, so that V8 and the JVM have compiled what is hot. Every intent that is due has to be there once; what is due is counted by closures written by hand.`,
  cases: [
    {
      title: '100 rules',
      counted: 'events',
      sides: [
        evaluating({
          name: 'carillon engine',
          syncs: ENGINE_SYNCS,
          stand,
          start: (services) => startEngines(services, 1),
        }),
        evaluating({ name: 'Kafka Streams', syncs: BROKER, stand, start: startPeer }),
      ],
      comparisons: [
        { side: 'carillon engine', to: 'Kafka Streams', measure: 'rate', wanted: 'at least', floor: 0.3, goal: 0.5 },
      ],
    },
  ],
};
