import type { Histogram } from 'node:perf_hooks';
import { EVENT_BYTES } from './corpus.ts';
import type { OpenSide, Reading, Round, Side } from './harness/bench.ts';
import { createDelays, recordDelay } from './harness/delays.ts';
import { BROKER, clusterStand, serversOf } from './http/cluster-stand.ts';
import { startHttpLoad, type HttpLoad, type LoadPlan } from './http/load.ts';
import { startRolesOnKafka, startUpEmbedded } from './http/product-target.ts';
import type { HttpTarget } from './http/target.ts';
import { type MailSink, startMailSink } from './mail-sink.ts';
import { startBullMq, startPgBoss } from './peers/queues/queues.ts';
import { compareStored } from './peers/topic.ts';
import { type Files, streamFiles } from './product.ts';
import { shared } from './started-once.ts';

/** To the mail server. */
export const MAIL_CONNECTIONS = 10;
/** What a burst is posted over. */
export const CONNECTIONS = 64;

/** Every event is a mail to its customer, with the id of the event for a subject. */
const mailFiles = (port: number): Files => ({
  ...streamFiles,
  'carillon.yaml': `accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${port}, tls: none, connections: ${MAIL_CONNECTIONS}, from: "Shop <shop@example.com>" }
`,
  'workspaces/shop/notifications/order-news.yaml': `name: Order news
channels:
  email: { template: order-news }
rules:
  every:
    stream: orders
    when: event.total >= 0.0
    recipients:
      from: event
      to: { email: event.customer.email }
      unique_id: event_id
      variables: { told_of: event_id }
`,
  'workspaces/shop/templates/order-news/email.yaml': 'subject: "{{ told_of }}"\n',
  'workspaces/shop/templates/order-news/email.txt': 'Hello {{ customer.name }}, there is news of {{ order_id }}.\n',
});

type Started = {
  readonly target: HttpTarget;
  readonly load: HttpLoad;
  readonly shares: Readonly<Record<string, number>>;
};
/** The product on one backend, as it is started for a side. */
export type Backend = {
  readonly name: string;
  readonly syncs: string;
  /** With these files, or whatever else makes a mail of each event, sent to a server on that port. */
  start(files: Files, smtpPort: number): Promise<Started>;
  release(): Promise<void>;
  /** Events in a second from post to mail, once a burst has shown it; a part of it is a part of its load. */
  most: number;
};

/** Both backends, with nothing known of them yet: each bench has its own. `env` is for the product's processes. */
export function bothBackends(env: Readonly<Record<string, string>> = {}): {
  readonly embedded: Backend;
  readonly cluster: Backend;
} {
  const withServers = clusterStand({ version: '4.3.1' });
  const alone = shared(
    async () => ({ load: startHttpLoad() }),
    ({ load }) => load.stop(),
  );

  const embedded: Backend = {
    name: 'carillon up, embedded',
    syncs: 'each commit (SQLite, WAL, synchronous=FULL)',
    most: Number.NaN,
    async start(files) {
      const { load } = await alone.take();
      return { target: await startUpEmbedded(files, env), load, shares: {} };
    },
    release: () => alone.release(),
  };
  const cluster: Backend = {
    name: 'four roles on Kafka',
    syncs: `${BROKER}; FerretDB's PostgreSQL neither (fsync off)`,
    most: Number.NaN,
    async start(files) {
      const on = await withServers.take();
      return { target: await startRolesOnKafka(on.services, files, env), load: on.load, shares: serversOf(on) };
    },
    release: () => withServers.release(),
  };

  return { embedded, cluster };
}

/** What one writes without us: an intake, a job queue and a pool of connections to the mail server. */
export function queues(): { readonly pgBoss: Backend; readonly bullMq: Backend } {
  const queue = (
    name: string,
    syncs: string,
    startQueue: (smtpPort: number, connections: number) => Promise<HttpTarget>,
  ): Backend => {
    const alone = shared(
      async () => ({ load: startHttpLoad() }),
      ({ load }) => load.stop(),
    );
    return {
      name,
      syncs,
      most: Number.NaN,
      async start(_files, smtpPort) {
        const { load } = await alone.take();
        return { target: await startQueue(smtpPort, MAIL_CONNECTIONS), load, shares: {} };
      },
      release: () => alone.release(),
    };
  };
  return {
    pgBoss: queue('fastify, pg-boss, PostgreSQL', 'each commit (WAL, synchronous_commit=on)', startPgBoss),
    bullMq: queue('fastify, BullMQ, Redis', 'each command (append-only file, appendfsync=always)', startBullMq),
  };
}

/** How a side posts its events, and what it reads from its mails. */
export type Sending = {
  /** How events come in a round. */
  load(round: Round, backend: Backend): LoadPlan['load'];
  /** What the round says. */
  read(sent: SentEvents, backend: Backend, round: Round): Reading;
};

/** Events of a round that were answered with 202 and mailed. */
export type SentEvents = {
  readonly done: number;
  /** From the beginning of the round until the last mail came. */
  readonly seconds: number;
  /** Milliseconds from each 202 to its mail. */
  readonly afterAnswer: readonly number[];
};

/** Events posted to the product, each of them mailed. Every 202 has to be on its log once, and mailed once. */
export function mailedSide(backend: Backend, sending: Sending): Side {
  async function open(): Promise<OpenSide> {
    const sink = await startMailSink();
    let started: Started;
    try {
      started = await backend.start(mailFiles(sink.port), sink.port);
    } catch (error) {
      sink.stop();
      await backend.release();
      throw error;
    }
    return sideOf(backend, sending, started, sink);
  }
  return { name: backend.name, syncs: backend.syncs, open };
}

function sideOf(backend: Backend, sending: Sending, { target, load, shares }: Started, sink: MailSink): OpenSide {
  const acknowledged: string[] = [];
  const mailed = new Map<string, number>();
  const refused: string[] = [];
  const { url, headers, stored } = target;
  return {
    processes: { ...target.processes, ...shares, load: load.pid, sink: sink.pid },
    async round(round) {
      const begun = performance.timeOrigin + performance.now();
      const result = await load.run({ url, headers, bytes: EVENT_BYTES, load: sending.load(round, backend) });
      acknowledged.push(...result.acknowledged);
      refused.push(...Object.keys(result.refusals));
      const answeredAt = new Map(result.acknowledged.map((id, index) => [id, result.answeredAt[index] ?? Number.NaN]));
      const mails = await sink.untilCame(new Set(answeredAt.keys()));
      for (const { subject } of mails) mailed.set(subject, (mailed.get(subject) ?? 0) + 1);
      const last = mails.reduce((latest, { at }) => Math.max(latest, at), begun);
      const afterAnswer = mails.map(({ subject, at }) => at - (answeredAt.get(subject) ?? at));
      const sent = {
        done: result.acknowledged.length,
        seconds: (last - begun) / 1000,
        afterAnswer,
      };
      return sending.read(sent, backend, round);
    },
    async verify() {
      const onLog = stored && (await stored());
      // What came after the last mail that was waited for.
      for (const { subject } of await sink.came()) mailed.set(subject, (mailed.get(subject) ?? 0) + 1);
      const mailedTwice = [...mailed.values()].filter((count) => count > 1).length;
      return [
        ...refused.map((what) => `some were answered with ${what}`),
        ...(mailedTwice > 0 ? [`${mailedTwice} were mailed more than once`] : []),
        ...(onLog ? compareStored(acknowledged, onLog) : []),
      ];
    },
    async close() {
      await target.stop();
      sink.stop();
      await backend.release();
    },
  };
}

/** How often a side goes through its bursts before they show what it can do: the first are slower than it will be. */
export const WARMING_BURSTS = 3;

/** A side does `WARMING_BURSTS` in the round that warms up, each to its last mail. The last of them is its reading. */
export const warmedByBursts = (side: Side): Side => ({
  ...side,
  async open() {
    const opened = await side.open();
    return {
      ...opened,
      async round(round) {
        const before = round.number === 0 ? WARMING_BURSTS - 1 : 0;
        for (let burst = 0; burst < before; burst += 1) await opened.round(round);
        return opened.round(round);
      },
    };
  },
});

export const delaysOf = (milliseconds: readonly number[]): Histogram => {
  const delays = createDelays();
  // The answer may reach its client after the mail has reached the server.
  for (const delay of milliseconds) recordDelay(delays, Math.max(0, delay));
  return delays;
};
