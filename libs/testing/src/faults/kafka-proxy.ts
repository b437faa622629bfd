import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { correlationOf, createFrames, limitVersions, readdress, requestHead } from './frames.ts';

/** Numbers of requests, as Kafka has them. */
export const KAFKA_API = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetCommit: 8,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  leaveGroup: 13,
  syncGroup: 14,
  apiVersions: 18,
  createTopics: 19,
  initProducerId: 22,
  describeConfigs: 32,
} as const;

/**
 * Fault of a request. `lose-answer`: the broker executes it, but the response is dropped and the connection closed.
 * `cut-before`: the broker never gets it. `cut-within`: it gets half. `silence`: it executes it and no response
 * arrives. `answered`: after this fraction (0 to 1) of the response the connection ends or is reset.
 */
export type RequestFate =
  | 'pass'
  | 'lose-answer'
  | 'cut-before'
  | 'cut-within'
  | 'silence'
  | { readonly delay: number }
  | { readonly answered: number; readonly by: 'end' | 'reset' };

/** Stands between a client and its brokers and lets the network misbehave, request by request. */
export type KafkaProxy = {
  /** `host:port` for clients, one per broker. */
  readonly brokers: readonly string[];
  /** Asked for each request; everything passes until it is set. */
  decide: (request: { readonly apiKey: number; readonly broker: number }) => RequestFate;
  /** Requests, by number, that brokers are made to speak in this version at most: as if they were older. */
  age: ReadonlyMap<number, number>;
  /** Cuts all connections and refuses new ones. */
  down(): void;
  up(): void;
  stop(): Promise<void>;
};

const READ_WITHIN = 5;
const NAMES_BROKERS = new Set<number>([KAFKA_API.metadata, KAFKA_API.findCoordinator]);

export async function startKafkaProxy(brokers: readonly string[]): Promise<KafkaProxy> {
  const sockets = new Set<Socket>();
  const addresses = new Map<string, string>();
  let isDown = false;

  function join(client: Socket, index: number): void {
    const [host = '', port = ''] = (brokers[index] ?? '').split(':');
    const broker = connect(Number(port), host);
    const cut = (): void => {
      client.destroy();
      broker.destroy();
    };
    const fates = new Map<number, { readonly apiKey: number; readonly fate: RequestFate }>();
    const requests = createFrames();
    const answers = createFrames();
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }

    client.on('data', (chunk: Buffer) => {
      for (const frame of requests(chunk)) {
        const { apiKey, correlationId } = requestHead(frame);
        const fate = proxy.decide({ apiKey, broker: index });
        if (fate === 'cut-before') return cut();
        if (fate === 'cut-within') {
          broker.write(frame.subarray(0, Math.ceil(frame.length / 2)), cut);
          return;
        }
        fates.set(correlationId, { apiKey, fate });
        broker.write(frame);
      }
    });
    broker.on('data', (chunk: Buffer) => {
      for (const frame of answers(chunk)) {
        const asked = fates.get(correlationOf(frame));
        fates.delete(correlationOf(frame));
        const fate = asked?.fate ?? 'pass';
        if (fate === 'lose-answer') return cut();
        if (fate === 'silence') continue;
        let answer = frame;
        if (asked && NAMES_BROKERS.has(asked.apiKey)) answer = readdress(frame, addresses);
        if (asked?.apiKey === KAFKA_API.apiVersions) answer = limitVersions(frame, proxy.age);
        if (typeof fate === 'object' && 'answered' in fate) {
          const part = answer.subarray(0, Math.floor(answer.length * fate.answered));
          if (fate.by === 'end') client.end(part, cut);
          // A while later: whoever is reset at once may not get to read what came before.
          else client.write(part, () => setTimeout(() => client.resetAndDestroy(), READ_WITHIN));
          return;
        }
        if (typeof fate === 'object') setTimeout(() => client.write(answer), fate.delay);
        else client.write(answer);
      }
    });
  }

  const servers = await Promise.all(
    brokers.map(async (broker, index): Promise<Server> => {
      const server = createServer((client) => {
        if (isDown) client.destroy();
        else join(client, index);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      addresses.set(broker, `127.0.0.1:${(server.address() as AddressInfo).port}`);
      return server;
    }),
  );

  const proxy: KafkaProxy = {
    brokers: brokers.map((broker) => addresses.get(broker) ?? ''),
    decide: () => 'pass',
    age: new Map(),
    down() {
      isDown = true;
      for (const socket of sockets) socket.destroy();
    },
    up() {
      isDown = false;
    },
    async stop() {
      proxy.down();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
  return proxy;
}
