import { emailKey } from '@carillon/domain/people';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { Clock, PeopleStore } from '@carillon/ports';
import { digestOf } from './words.ts';

/** Wrong words older than this count no longer. */
const SPAN: Duration = 15 * 60_000;
/** So many wrong words at one account from one source cost no time. */
const FREE = 5;
/** The same of one account from everywhere, and of one source at all accounts: a shared address has many people behind it. */
const FREE_OF_ACCOUNT = 100;
const FREE_OF_SOURCE = 50;
const FIRST_WAIT: Duration = 500;
const LONGEST_WAIT: Duration = 8_000;
/** Attempts at one account from one source that wait for their turn; more are told to come again. */
const MAX_WAITING = 8;
const MAX_LANES = 10_000;

export type Guessing = {
  /**
   * Runs `check`, which answers null for a wrong word. After some wrong words the attempts at an account from a source run one after
   * the other, each after a wait that doubles up to 8 s: guessing takes for ever, and a right word is always taken, for it waits
   * and is looked at like any other. It is the same for an account that is not there. Throws `rate_limited`, without a
   * look at the word, only for whoever sends many at once. `check` is told how many wrong words came from the source lately.
   */
  attempt<T>(email: string, source: string, check: (wrong: number) => Promise<T | null>): Promise<T | null>;
};

/** Wrong words that count together, over this span since the first. */
type Tally = { readonly id: string; readonly span: Duration };
/** Wrong words before delays start. */
type FreeTally = Tally & { readonly free: number };

/** Returns the wrong words of a tally within its span. */
export async function guessesOf(store: PeopleStore, clock: Clock, { id, span }: Tally): Promise<number> {
  const found = await store.find('guesses', id);
  return found && Math.abs(clock.now() - found.body.since) < span ? found.body.count : 0;
}

/** Adds a wrong word to a tally. Two concurrent calls both count, because the loser of the write reads again. */
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

  /** Its turn in the lane, after those that came before. */
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
      const counts = await Promise.all(tallies.map((one) => guessesOf(store, clock, one)));
      const wait = Math.max(...tallies.map(({ free }, at) => waitFor(counts[at] ?? 0, free)));
      const look = (): Promise<T | null> => check(counts[tallies.indexOf(ofSource)] ?? 0);
      const answer = await (wait === 0 ? look() : inTurn(own.id, wait, look));
      if (answer === null) for (const one of tallies) await addGuess(store, clock, one);
      else await store.remove('guesses', own.id);
      return answer;
    },
  };
}
