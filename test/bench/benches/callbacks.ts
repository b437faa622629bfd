import type { Bench, Side } from '../harness/bench.ts';
import { BROKER, brokerOf, clusterStand } from '../http/cluster-stand.ts';
import { httpSide } from '../http/http-side.ts';
import { startGatewayWithCallbacks } from '../http/product-target.ts';
import { shared } from '../started-once.ts';

const onCluster = clusterStand({ version: '4.3.1' });
const CONNECTIONS = 64;
const CALLBACKS = 'callbacks of Twilio';
const EVENTS = 'events';

/** One gateway for both sides, which take turns. */
const stand = shared(
  async () => {
    const on = await onCluster.take();
    try {
      return { ...on, gateway: await startGatewayWithCallbacks(on.services) };
    } catch (error) {
      await onCluster.release();
      throw error;
    }
  },
  async ({ gateway }) => {
    await gateway.events.stop();
    await onCluster.release();
  },
);

const side = (name: string, takes: 'events' | 'callbacks'): Side =>
  httpSide({
    name,
    syncs: BROKER,
    stand,
    start: async ({ gateway }) => ({ ...gateway[takes], stop: async () => undefined }),
    load: (seconds) => ({ open: CONNECTIONS, seconds }),
    shares: (on) => brokerOf(on),
  });

export const callbacks: Bench = {
  name: 'callbacks',
  title: 'Taking what providers report',
  what: `Statuses of Twilio, each of a message of its own and with its signature, are posted to a gateway over ${CONNECTIONS} connections; each connection sends its
next one when the last is answered. In turns with them the same gateway takes events of 732 bytes in the same way. It is a process without other
roles over one broker of Kafka, with 8 partitions, and answers when the report, or the event, is on the log; afterwards each log is read, and what was acknowledged has to
stand there once. Who posts signs each status, which costs the generator more than an event.`,
  cases: [
    {
      title: `Kafka, ${CONNECTIONS} connections`,
      counted: 'requests',
      delays: 'from the request to its answer',
      sides: [side(CALLBACKS, 'callbacks'), side(EVENTS, 'events')],
      comparisons: [{ side: CALLBACKS, to: EVENTS, measure: 'rate', wanted: 'at least', floor: 0.6, goal: 0.8 }],
    },
  ],
};
