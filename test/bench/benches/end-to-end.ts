import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import {
  bothBackends,
  type Backend,
  CONNECTIONS,
  delaysOf,
  MAIL_CONNECTIONS,
  mailedSide,
  type Sending,
  WARMING_BURSTS,
  warmedByBursts,
} from '../mailed-events.ts';
import { secondsOf } from '../warm-up.ts';

/** Of a burst; all of its mails are waited for. */
const BURST = 1;
/** Events in a second of a system that has next to nothing to do. */
const IDLE = 5;

const { embedded, cluster } = bothBackends();

const bursts: Sending = {
  load: () => ({ open: CONNECTIONS, seconds: BURST }),
  read(done, seconds, _delays, backend) {
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
  read: (done, seconds, delays, backend) => ({ done, seconds, delays: delaysOf(delays), offered: rateOf(backend) }),
});

const sidesOf = (sending: Sending): readonly Side[] =>
  [embedded, cluster].map((backend) => mailedSide(backend, sending));

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
when which mail came) over at most ${MAIL_CONNECTIONS} connections. First bursts, after ${WARMING_BURSTS} that do not count: ${BURST} s over ${CONNECTIONS} connections, and the time until the last of its mails has come. Then the delay of each
mail: at ${IDLE} events a second, and at half of the rate of the last burst. Afterwards every event answered with 202 has to be on the log once, and mailed once.`,
  cases: [
    caseOf('bursts', bursts, { sides: sidesOf(bursts).map(warmedByBursts) }),
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
