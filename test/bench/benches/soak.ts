import type { Bench, BenchCase } from '../harness/bench.ts';
import { type Backend, bothBackends, CONNECTIONS, delaysOf, mailedSide, type Sending } from '../mailed-events.ts';

/** Twenty minutes of it. */
const PACE = { rounds: 20, seconds: 60 };
const SHARE = 0.6;
/** Seconds of posting as fast as it goes, all of whose mails are waited for: they show what full load is. */
const BURST = 5;

/** The first round, which does not count, finds what the backend can do. */
const soaking: Sending = {
  load: ({ number, seconds }, { most }) =>
    number === 0 ? { open: CONNECTIONS, seconds: BURST } : { rate: most * SHARE, seconds },
  read(done, seconds, delays, backend) {
    if (Number.isNaN(backend.most)) backend.most = done / seconds;
    return { done, seconds, delays: delaysOf(delays) };
  },
};

const { embedded, cluster } = bothBackends();

const soakOf = (title: string, backend: Backend, memoryOf: readonly string[]): BenchCase => ({
  title,
  counted: 'events',
  delays: 'from the 202 to when the mail server has the mail',
  sides: [mailedSide(backend, soaking)],
  comparisons: [],
  memoryOf,
  pace: PACE,
});

export const soak: Bench = {
  name: 'soak',
  title: 'Memory over a soak',
  what: `Every event gives one mail, as in the bench before. After a burst that shows what the backend can do, events come at ${SHARE * 100} % of that, ${(PACE.rounds * PACE.seconds) / 60} minutes
long; what the configuration says of retention stays as it is, so that the log and the ledger grow all the time. Resident memory of each process is looked at every second.
Afterwards every event answered with 202 has to be on the log once, and mailed once.`,
  cases: [
    soakOf('all roles in one process, embedded', embedded, ['carillon']),
    soakOf('four roles on Kafka', cluster, ['gateway 1', 'engine 1', 'delivery 1', 'control 1']),
  ],
};
