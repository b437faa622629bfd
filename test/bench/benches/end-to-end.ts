import type { Bench, BenchCase, Comparison, Side } from '../harness/bench.ts';
import {
  bothBackends,
  type Backend,
  CONNECTIONS,
  delaysOf,
  MAIL_CONNECTIONS,
  mailedSide,
  queues,
  type Sending,
  WARMING_BURSTS,
  warmedByBursts,
} from '../mailed-events.ts';
import { EVENT_BYTES } from '../corpus.ts';
import { secondsOf } from '../warm-up.ts';

/** Events of a burst; all of their mails are waited for. */
const BURST = 3_000;
/** Events in a second of a system that has next to nothing to do. */
const IDLE = 5;

const { embedded, cluster } = bothBackends();
const { pgBoss, bullMq } = queues();

const bursts: Sending = {
  load: () => ({ open: CONNECTIONS, count: BURST }),
  read({ done, seconds }, backend) {
    backend.most = done / seconds;
    return { done, seconds };
  },
};
const steadily = (rateOf: (backend: Backend) => number): Sending => ({
  load(round, backend) {
    const rate = rateOf(backend);
    if (Number.isNaN(rate))
      throw new Error('only the case of bursts, which comes before, shows what the backend can do');
    return { rate, seconds: secondsOf(round) };
  },
  read: ({ done, seconds, afterAnswer }, backend) => ({
    done,
    seconds,
    delays: delaysOf(afterAnswer),
    offered: rateOf(backend),
  }),
});

const sidesOf = (sending: Sending, ...more: readonly Backend[]): readonly Side[] =>
  [embedded, cluster, ...more].map((backend) => mailedSide(backend, sending));

/** Floors and goals of one machine beside a queue: [mails a second, CPU]. */
const besideQueue = (
  { name: to }: Backend,
  floors: readonly [number, number],
  goals: readonly [number, number],
): readonly Comparison[] => [
  { side: embedded.name, to, measure: 'rate', wanted: 'at least', floor: floors[0], goal: goals[0] },
  { side: embedded.name, to, measure: 'cpu', wanted: 'at most', floor: floors[1], goal: goals[1] },
];

const caseOf = (title: string, sending: Sending, more: Partial<BenchCase>): BenchCase => ({
  title,
  counted: 'events',
  sides: sidesOf(sending),
  comparisons: [],
  ...more,
});

const DELAYS = 'from the 202 to when the mail server has the mail';

export const endToEnd: Bench = {
  name: 'end-to-end',
  title: 'From an event to its mail',
  what: `Every event gives one mail, rendered from a template and handed over to a mail server (smtp-server, which takes everything and keeps only
when which mail came) over at most ${MAIL_CONNECTIONS} connections. First bursts, after ${WARMING_BURSTS} that do not count: ${BURST} events of ${EVENT_BYTES} bytes over ${CONNECTIONS} connections, and the time until the last of their mails has come, beside what one writes without us: fastify, a
job queue with 50 jobs at once (pg-boss: ten workers with 50 each) and nodemailer, which keep no template, rule or ledger, and tell somebody twice when they are killed. CPU is of all processes, with those that they started: the database's too. Then the delay of each
mail: at ${IDLE} events a second, and at half of the rate of the last burst. Afterwards every event answered with 202 has to be on the log once, and mailed once.`,
  cases: [
    caseOf('bursts', bursts, {
      sides: sidesOf(bursts, pgBoss, bullMq).map(warmedByBursts),
      comparisons: [...besideQueue(bullMq, [0.8, 1.1], [1, 0.9]), ...besideQueue(pgBoss, [1.1, 0.85], [1.4, 0.7])],
    }),
    caseOf(
      'delay, idle',
      steadily(() => IDLE),
      {
        delays: DELAYS,
        comparisons: [embedded, cluster].map(({ name }) => ({
          side: name,
          measure: 'p50',
          wanted: 'at most',
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
