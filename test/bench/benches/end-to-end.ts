import type { Histogram } from 'node:perf_hooks';
import { EVENT_BYTES } from '../corpus.ts';
import type { Bench, BenchCase, OpenSide, Reading, Round, Side } from '../harness/bench.ts';
import { createDelays, recordDelay } from '../harness/delays.ts';
import { BROKER, brokerOf, clusterStand } from '../http/cluster-stand.ts';
import { startHttpLoad, type HttpLoad, type LoadPlan } from '../http/load.ts';
import { startRolesOnKafka, startUpEmbedded } from '../http/product-target.ts';
import type { HttpTarget } from '../http/target.ts';
import { type MailSink, startMailSink } from '../mail-sink.ts';
import { compareStored } from '../peers/topic.ts';
import { type Files, streamFiles } from '../product.ts';
import { shared } from '../started-once.ts';
import { secondsOf } from '../warm-up.ts';

const CONNECTIONS = 64;
/** Of a burst; all of its mails are waited for. */
const BURST = 1;
/** Events in a second of a system that has next to nothing to do. */
const IDLE = 5;
const MAIL_CONNECTIONS = 10;

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

const withServers = clusterStand({ version: '4.3.1' });
const alone = shared(
  async () => ({ load: startHttpLoad() }),
  ({ load }) => load.stop(),
);

type Started = {
  readonly target: HttpTarget;
  readonly load: HttpLoad;
  readonly shares: Readonly<Record<string, number>>;
};
type Backend = {
  readonly name: string;
  readonly syncs: string;
  start(files: Files): Promise<Started>;
  release(): Promise<void>;
  /** Events in a second, from the first case; half of it is half load. */
  most: number;
};

const embedded: Backend = {
  name: 'carillon up, embedded',
  syncs: 'each commit (SQLite, WAL, synchronous=FULL)',
  most: Number.NaN,
  async start(files) {
    const { load } = await alone.take();
    return { target: await startUpEmbedded(files), load, shares: {} };
  },
  release: () => alone.release(),
};
const cluster: Backend = {
  name: 'four roles on Kafka',
  syncs: `${BROKER}; FerretDB's PostgreSQL neither (fsync off)`,
  most: Number.NaN,
  async start(files) {
    const on = await withServers.take();
    return { target: await startRolesOnKafka(on.services, files), load: on.load, shares: brokerOf(on) };
  },
  release: () => withServers.release(),
};

type Sending = {
  /** How events come in a round. */
  load(round: Round, backend: Backend): LoadPlan['load'];
  /** What the round says, of when it began, the last mail came, and each mail came after its 202. */
  read(done: number, seconds: number, afterAnswer: readonly number[], backend: Backend): Reading;
};

function sideOn(backend: Backend, sending: Sending): Side {
  async function open(): Promise<OpenSide> {
    const sink = await startMailSink();
    let started: Started;
    try {
      started = await backend.start(mailFiles(sink.port));
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
      return sending.read(result.acknowledged.length, (last - begun) / 1000, afterAnswer, backend);
    },
    async verify() {
      const mailedTwice = [...mailed.values()].filter((count) => count > 1).length;
      return [
        ...refused.map((what) => `some were answered with ${what}`),
        ...(mailedTwice > 0 ? [`${mailedTwice} were mailed more than once`] : []),
        ...(stored ? compareStored(acknowledged, await stored()) : []),
      ];
    },
    async close() {
      await target.stop();
      sink.stop();
      await backend.release();
    },
  };
}

const delaysOf = (milliseconds: readonly number[]): Histogram => {
  const delays = createDelays();
  // The answer may reach its client after the mail has reached the server.
  for (const delay of milliseconds) recordDelay(delays, Math.max(0, delay));
  return delays;
};

const bursts: Sending = {
  load: () => ({ open: CONNECTIONS, seconds: BURST }),
  read(done, seconds, _delays, backend) {
    backend.most = done / seconds;
    return { done, seconds };
  },
};
const steadily = (rateOf: (backend: Backend) => number): Sending => ({
  load: (round, backend) => ({ rate: rateOf(backend), seconds: secondsOf(round) }),
  read: (done, seconds, delays) => ({ done, seconds, delays: delaysOf(delays) }),
});

const caseOf = (title: string, sending: Sending, more: Partial<BenchCase>): BenchCase => ({
  title,
  counted: 'events',
  sides: [embedded, cluster].map((backend) => sideOn(backend, sending)),
  comparisons: [],
  ...more,
});

const DELAYS = 'from the 202 to when the mail server has the mail';

export const endToEnd: Bench = {
  name: 'end-to-end',
  title: 'From an event to its mail',
  what: `Every event gives one mail, rendered from a template and handed over to a mail server (smtp-server, which takes everything and keeps only
when which mail came) over at most ${MAIL_CONNECTIONS} connections. First bursts: ${BURST} s over ${CONNECTIONS} connections, and the time until the last of its mails has come. Then the delay of each
mail: at ${IDLE} events a second, and at half of the rate of the last burst. Afterwards every event answered with 202 has to be on the log once, and mailed once.`,
  cases: [
    caseOf('bursts', bursts, {}),
    caseOf(
      'delay, idle',
      steadily(() => IDLE),
      {
        delays: DELAYS,
        comparisons: [embedded, cluster].map(({ name }) => ({
          side: name,
          measure: 'p50',
          wanted: 'at most',
          // There is no floor: the delay is stated.
          floor: Number.POSITIVE_INFINITY,
          goal: 50,
        })),
      },
    ),
    caseOf(
      'delay, half load',
      steadily(({ most }) => most / 2),
      { delays: DELAYS },
    ),
  ],
};
