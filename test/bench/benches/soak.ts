import type { Bench, BenchCase, Round } from '../harness/bench.ts';
import {
  type Backend,
  bothBackends,
  CONNECTIONS,
  delaysOf,
  mailedSide,
  type Sending,
  WARMING_BURSTS,
  warmedByBursts,
} from '../mailed-events.ts';

/** Twenty minutes of it. */
const PACE = { rounds: 40, seconds: 30 };
const SHARE = 0.6;
/** Seconds of posting as fast as it goes, all of whose mails are waited for: they show what full load is. */
const BURST = 5;
/** The round that does not count finds what the backend can do; all others have one rate, which the result names. */
const rateOf = ({ rate }: Round, { most }: Backend): number => rate ?? most * SHARE;
const soaking: Sending = {
  load: (round, backend) =>
    round.number === 0
      ? { open: CONNECTIONS, seconds: BURST }
      : { rate: rateOf(round, backend), seconds: round.seconds },
  read({ done, seconds, afterAnswer }, backend, round) {
    if (round.number === 0) backend.most = done / seconds;
    return { done, seconds, delays: delaysOf(afterAnswer), offered: rateOf(round, backend) };
  },
};

const COLLECTING = new URL('../harness/collecting.ts', import.meta.url).href;
const { embedded, cluster } = bothBackends({ NODE_OPTIONS: `--expose-gc --import ${COLLECTING}` });

const soakOf = (title: string, backend: Backend, memoryOf: readonly string[]): BenchCase => ({
  title,
  counted: 'events',
  delays: 'from the 202 to when the mail server has the mail',
  sides: [warmedByBursts(mailedSide(backend, soaking))],
  comparisons: [],
  memoryOf,
  pace: PACE,
});

export const soak: Bench = {
  name: 'soak',
  title: 'Memory over a soak',
  what: `Every event gives one mail, as in the bench \`end-to-end\`. After ${WARMING_BURSTS} bursts, the last of which shows what the backend can do, events come at ${SHARE * 100} % of that for ${(PACE.rounds * PACE.seconds) / 60} minutes,
or at the rate and for the minutes that the command names; the rate that was offered stands in the table and stays the same for all rounds. The main and the writing thread of
each process of the product collect everything that is garbage every 15 s, also in the bursts, which takes CPU time and lengthens the longest delays: by itself V8 does so once in many minutes, and until then garbage could not be told from a leak. What the configuration says of retention stays as it is, so that the log and the ledger grow all the time. Resident memory of each process is looked at every second, and a round has the median of its
looks. The first quarter of the rounds warms up. Over the others a slope is fitted for each role (the median of the slopes between any two rounds, Theil and Sen) with the
interval that holds it in 95 of 100 such soaks: memory is called flat where that interval reaches down to 0, so that no growth can be told from noise.
Afterwards every event answered with 202 has to be on the log once, and mailed once.`,
  cases: [
    soakOf('all roles in one process, embedded', embedded, ['carillon']),
    soakOf('four roles on Kafka', cluster, ['gateway 1', 'engine 1', 'delivery 1', 'control 1']),
  ],
};
