import { setTimeout as pause } from 'node:timers/promises';
import {
  startKafkaProxy,
  startTcpProxy,
  type KafkaProxy,
  type TcpFault,
  type TcpProxy,
} from '@carillon/testing/faults';
import type { Cut } from './cuts.ts';
import type { LostAnswers } from './doubts.ts';
import type { OutsideServers } from './outside-servers.ts';
import type { Neighbours } from './shop.ts';

/** Who speaks with whom over a network. */
export type Edge =
  | 'clients-gateway'
  | 'roles-broker'
  | 'roles-database'
  | 'roles-registry'
  | 'delivery-smtp'
  | 'engine-partner';

/** What happens to an edge, in this order, and then to the next one. */
export const TROUBLES = ['cut', 'flap', 'delay', 'stall'] as const;
export type Trouble = (typeof TROUBLES)[number];

/** How long each lasts, in milliseconds, and how long there is none between two. */
export type Spans = Readonly<Record<Trouble | 'calm', number>>;
/** A cut is shorter than the tries of a mail last, so that nothing fails for good; the stall longer than a consumer's session. */
export const LONG_SPANS: Spans = { cut: 2_000, flap: 4_000, delay: 4_000, stall: 12_000, calm: 1_500 };

/** A piece is late by so much: far below what anybody waits for an answer. */
const DELAY = 150;
/** A flapping edge is reset so often. */
const FLAPS_EVERY = 250;
/** Proxies on every edge of a product. */
export type Network = {
  /** In the order in which they were made. */
  edges(): readonly Edge[];
  /** Puts the network between: the same address, with another port of 127.0.0.1 in it. */
  through(edge: Edge, address: string): Promise<string>;
  /** The same for brokers, which name each other. */
  throughBrokers(brokers: readonly string[]): Promise<readonly string[]>;
  /** Everything that can happen to every edge, one after the other. */
  trouble(spans: Spans, progress?: (what: string) => void): Promise<void>;
  /** When connections of an edge were reset so far, and how many: what was to come over these is lost. */
  resets(edge: Edge): readonly LostAnswers[];
  /** When calls to the partner may have been cut off, or what came of them kept from being written. */
  cuts(): readonly Cut[];
  stop(): Promise<void>;
};

type Between = Pick<TcpProxy, 'reset' | 'stop'> & {
  /** What is to pass again is told so after `span`. */
  fail(fault: TcpFault, span: number): void;
};

/** The protocol of brokers goes answer by answer; a stall is one that is over when it is over. */
const betweenBrokers = (proxy: KafkaProxy): Between => ({
  fail(fault, span) {
    if (fault === 'cut') proxy.down();
    else proxy.up();
    const over = Date.now() + span;
    proxy.decide = () => {
      if (fault === 'stall') return { delay: Math.max(0, over - Date.now()) };
      return typeof fault === 'object' ? fault : 'pass';
    };
  },
  reset() {
    proxy.down();
    proxy.up();
    return 0;
  },
  stop: () => proxy.stop(),
});

export function createNetwork(): Network {
  const proxies: { readonly edge: Edge; readonly between: Between }[] = [];
  const resets: (LostAnswers & { readonly edge: Edge })[] = [];
  const cuts: Cut[] = [];
  const of = (edge: Edge): readonly Between[] => proxies.filter((one) => one.edge === edge).map((one) => one.between);
  const edges = (): readonly Edge[] => [...new Set(proxies.map(({ edge }) => edge))];

  function reset(edge: Edge): void {
    const from = Date.now();
    const most = of(edge).reduce((sum, between) => sum + between.reset(), 0);
    if (most > 0) resets.push({ edge, from, until: Date.now(), most });
  }
  function fail(edge: Edge, fault: TcpFault, span = 0): void {
    if (fault === 'cut') reset(edge);
    for (const between of of(edge)) between.fail(fault, span);
  }

  async function undergo(edge: Edge, trouble: Trouble, span: number): Promise<void> {
    const from = Date.now();
    if (trouble === 'flap') {
      for (const until = from + span; Date.now() < until; await pause(FLAPS_EVERY)) reset(edge);
    } else {
      fail(edge, trouble === 'delay' ? { delay: DELAY } : trouble, span);
      await pause(span);
      fail(edge, 'pass');
    }
    if (edge === 'engine-partner' || edge === 'roles-database') cuts.push({ from, until: Date.now() });
  }

  return {
    edges,
    async through(edge, address) {
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(address)?.[1]);
      const proxy = await startTcpProxy(port);
      proxies.push({ edge, between: proxy });
      return address.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`);
    },
    async throughBrokers(brokers) {
      const proxy = await startKafkaProxy(brokers);
      proxies.push({ edge: 'roles-broker', between: betweenBrokers(proxy) });
      return proxy.brokers;
    },
    async trouble(spans, progress) {
      for (const edge of edges()) {
        for (const trouble of TROUBLES) {
          progress?.(`${trouble} ${edge}`);
          await undergo(edge, trouble, spans[trouble]);
          await pause(spans.calm);
        }
      }
    },
    resets: (edge) => resets.filter((one) => one.edge === edge),
    cuts: () => cuts,
    async stop() {
      await Promise.all(proxies.map(({ between }) => between.stop()));
    },
  };
}

/** The addresses of the mail server and the partner as the product reaches them. */
export async function neighboursThrough(
  network: Network | undefined,
  { smtp, partner, neighbours }: Pick<OutsideServers, 'smtp' | 'partner' | 'neighbours'>,
): Promise<Neighbours> {
  if (!network) return neighbours;
  const mailServer = await network.through('delivery-smtp', `127.0.0.1:${smtp.port}`);
  return {
    ...neighbours,
    smtpPort: Number(mailServer.split(':')[1]),
    partnerUrl: await network.through('engine-partner', partner.url),
  };
}
