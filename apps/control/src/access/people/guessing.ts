import { emailKey } from '@carillon/domain/people';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { Clock, PeopleStore } from '@carillon/ports';
import { digestOf } from './secret-tokens.ts';

/** Age after which wrong passwords no longer count. */
const SPAN: Duration = 15 * 60_000;
/** Wrong passwords per account and source before delays start. */
const FREE = 5;
/** Wrong passwords per account over all sources before delays start. */
const FREE_OF_ACCOUNT = 100;
const FREE_OF_SOURCE = 50;
const FIRST_WAIT: Duration = 500;
const LONGEST_WAIT: Duration = 8_000;
/** Maximum waiting tries per account and source. Further tries are refused with a time to retry. */
const MAX_WAITING = 8;
const MAX_LANES = 10_000;

export type Guessing = {
  /**
   * Runs `check`, which returns null for a wrong password. After some wrong passwords the tries per account and source
   * run in sequence, each after a delay that doubles up to 8 s. A right password is therefore always accepted, after
   * its wait. Unknown accounts behave the same. Throws `rate_limited` without a check only for many concurrent tries.
   * `check` gets the number of recent wrong passwords of the source.
   */
  attempt<T>(email: string, source: string, check: (wrong: number) => Promise<T | null>): Promise<T | null>;
};

/** Wrong passwords counted together, within this time since the first. */
type Tally = { readonly id: string; readonly span: Duration };
/** Wrong passwords before delays start. */
type FreeTally = Tally & { readonly free: number };

/** Returns the number of wrong passwords of a tally within its span. */
export async function guessesOf(store: PeopleStore, clock: Clock, { id, span }: Tally): Promise<number> {
  const found = await store.find('guesses', id);
  return found && Math.abs(clock.now() - found.body.since) < span ? found.body.count : 0;
}

/** Adds a wrong password to a tally. Two concurrent calls both count, because the loser of the write reads again. */
export async function addGuess(store: PeopleStore, clock: Clock, { id, span }: Tally): Promise<void> {
  for (;;) {
    const now = clock.now();
    const found = await store.find('guesses', id);
    const goesOn = found && Math.abs(now - found.body.since) < span;
    const body = goesOn ? { count: found.body.count + 1, since: found.body.since } : { count: 1, since: now };
    const version = (found?.version ?? 0) + 1;
    const next = { kind: 'guesses', id, version, key: null, of: null, endsAt: body.since + span, body } as const;
    if ((await store.replace(next)) === 'done') return;
  }
}

export function createGuessing(
  store: PeopleStore,
  clock: Clock,
  pause: (span: Duration) => Promise<unknown>,
): Guessing {
  const lanes = new Map<string, { waiting: number; last: Promise<unknown> }>();

  const waitFor = (counted: number, free: number): Duration =>
    counted < free ? 0 : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(counted - free, 10));

  /** Runs the work after earlier work of the same lane. */
  async function inTurn<T>(name: string, wait: Duration, work: () => Promise<T>): Promise<T> {
    const lane = lanes.get(name) ?? { waiting: 0, last: Promise.resolve() };
    if (lane.waiting >= MAX_WAITING || lanes.size >= MAX_LANES) {
      const retryAfter = wait * (lane.waiting + 1);
      throw new CarillonError('rate_limited', 'too many sign-ins to this account are waiting; try again later', {
        retryAfter,
      });
    }
    lane.waiting += 1;
    lanes.set(name, lane);
    const mine = lane.last.then(async () => {
      await pause(wait);
      return work();
    });
    lane.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) lanes.delete(name);
    }
  }

  return {
    async attempt<T>(email: string, source: string, check: (wrong: number) => Promise<T | null>) {
      const account = emailKey(email);
      const own = { id: digestOf(JSON.stringify(['both', account, source])), span: SPAN, free: FREE };
      const ofSource = { id: digestOf(JSON.stringify(['source', source])), span: SPAN, free: FREE_OF_SOURCE };
      const ofAccount = { id: digestOf(JSON.stringify(['account', account])), span: SPAN, free: FREE_OF_ACCOUNT };
      const tallies: readonly FreeTally[] = [own, ofAccount, ofSource];
      const counts = await Promise.all(tallies.map((tally) => guessesOf(store, clock, tally)));
      const wait = Math.max(...tallies.map(({ free }, at) => waitFor(counts[at] ?? 0, free)));
      const look = (): Promise<T | null> => check(counts[tallies.indexOf(ofSource)] ?? 0);
      const answer = await (wait === 0 ? look() : inTurn(own.id, wait, look));
      if (answer === null) for (const tally of tallies) await addGuess(store, clock, tally);
      else await store.remove('guesses', own.id);
      return answer;
    },
  };
}
