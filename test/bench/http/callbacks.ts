import type { BenchCase, Side } from '../harness/bench.ts';
import { shared } from '../started-once.ts';
import { BROKER, brokerOf, clusterStand } from './cluster-stand.ts';
import { httpSide } from './http-side.ts';
import { startGatewayWithCallbacks } from './product-target.ts';

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

export const callbackCase: BenchCase = {
  title: `callbacks over HTTP, Kafka, ${CONNECTIONS} connections`,
  counted: 'requests',
  delays: 'from the request to its answer',
  sides: [side(CALLBACKS, 'callbacks'), side(EVENTS, 'events')],
  comparisons: [{ side: CALLBACKS, to: EVENTS, measure: 'rate', wanted: 'at least', floor: 0.6, goal: 0.8 }],
};
