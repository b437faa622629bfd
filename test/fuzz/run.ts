import { KINDS, type Failure, type FuzzCase, type Kind, type RequestCase } from './fuzz-case.ts';
import { checkFiles, checkJson, checkRule, checkTemplate, runCheck, type Outcome } from './checks.ts';
import { exchange } from './exchange.ts';
import { makeCase } from './make-case.ts';
import { isForUs } from './generators/mails.ts';
import { judgeMail, wasTaken } from './mail-oracle.ts';
import { judgeExchange, judgeLog, type Verdict } from './oracle.ts';
import type { Target } from './running-shop.ts';

export type FuzzOptions = {
  readonly cases: number;
  readonly seed: number;
  /** Left out: all of them, by their shares. */
  readonly kinds?: readonly Kind[];
  /** The number of the first case: to do one again. */
  readonly from?: number;
  /** Milliseconds for an answer. */
  readonly limit?: number;
  /** Cases under way at once. */
  readonly width?: number;
  /** Hears of the run every thousand cases. */
  readonly progress?: (done: number, failures: number) => void;
  /** Hears of each failure at once: a long run may be cut off. */
  readonly found?: (failure: Failure) => void;
};

export type FuzzReport = {
  readonly failures: readonly Failure[];
  /** How many cases of a kind came to what: `events 202`, `rules refused`. */
  readonly counts: Readonly<Record<string, number>>;
  /** Milliseconds. `loopP99`: worst of all stretches of a thousand cases, as far as the processor was there for it. */
  readonly loopP99: number;
  readonly loopMax: number;
  /** Bytes, at most. */
  readonly memory: number;
  /** For each kind of request, the case in which the product's main thread ran longest: others were under way too. */
  readonly busiest: Readonly<Partial<Record<Kind, Busy>>>;
};

/** Milliseconds of processor time. */
export type Busy = { readonly number: number; readonly ran: number };

export const ANSWERED_WITHIN = 10_000;
/** What the product's own metric may say of its event loop (99 % of delays), in milliseconds. */
export const MAX_LOOP_DELAY = 200;
/**
 * For so long, in milliseconds of processor time, one request may keep the main thread: nobody else is served meanwhile.
 * A percentile does not show one in thousands, and neither share nor wall clock say how long it was.
 */
export const MAX_BUSY = 1_000;
/** One that was so long among others is done again alone, so often: chance and neighbours do not come thrice. */
const TIMES_ALONE = 3;
const WIDTH = 8;
const STRETCH = 1_000;
/** So long a client waits for what it may be told before it leaves. */
const TIMEOUT_MS = 60;
/** So long one waits who has said goodbye, and whose goodbye may have become a line of its mail. */
const GOODBYE_TIMEOUT_MS = 1_000;
/** Enough to see what is wrong; more would only be the same again. */
const MAX_FAILURES = 25;
const TRIES = 5;

/** Sends so many cases and judges what comes of each, of the log, of the event loop, and of the product at the end. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReport> {
  const { cases, seed, kinds = KINDS, from = 0, width = WIDTH } = options;
  const failures: Failure[] = [];
  const counts: Record<string, number> = {};
  const worst = { loopP99: 0, loopMax: 0, memory: 0 };
  const busiest: Partial<Record<Kind, Busy>> = {};
  let last: Pick<Failure, 'number' | 'input'> = { number: null, input: { kind: 'json', body: '' } };
  const fail = (what: string, about = last): void => {
    const failure: Failure = { ...about, kind: 'hostile', what };
    failures.push(failure);
    options.found?.(failure);
  };

  for (let begin = from; begin < from + cases && failures.length < MAX_FAILURES; begin += STRETCH) {
    let next = begin;
    const end = Math.min(begin + STRETCH, from + cases);
    const long: Pick<Failure, 'number' | 'input'>[] = [];
    const work = async (): Promise<void> => {
      while (next < end && failures.length < MAX_FAILURES) {
        const number = next;
        next += 1;
        const input = makeCase(seed, number, kinds, target.operations);
        last = { number, input };
        const before = target.ran();
        const { what, outcome } = await runCase(target, input, options.limit);
        const ran = target.ran() - before;
        if (isRequest(input) && ran > (busiest[input.kind]?.ran ?? 0)) busiest[input.kind] = { number, ran };
        if (isRequest(input) && ran > MAX_BUSY) long.push({ number, input });
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        if (what !== null) fail(what, { number, input });
        const log = judgeLog(target.newInLog(), target.secrets);
        if (log !== null) fail(`${log} (or of a case before)`, { number, input });
      }
    };
    await Promise.all(Array.from({ length: width }, work));
    for (const about of long) {
      const alone = await busyAlone(target, about.input, options.limit);
      if (alone > MAX_BUSY) fail(`it kept the main thread busy for ${Math.round(alone)} ms of processor time`, about);
    }
    const seen = await target.measure().catch((error: unknown) => {
      fail(`its metrics cannot be read: ${String(error)}`);
      return undefined;
    });
    if (!seen) break;
    // While others have the processor nobody moves: only the time that it had counts.
    const delay = seen.loopP99 * seen.share;
    worst.loopP99 = Math.max(worst.loopP99, delay);
    worst.loopMax = Math.max(worst.loopMax, seen.loopMax * seen.share);
    worst.memory = Math.max(worst.memory, seen.memory);
    // A metric that is not there is no good news.
    if (!(delay <= MAX_LOOP_DELAY)) fail(`event-loop delay p99 of ${Math.round(delay)} ms in cases ${begin} to ${end}`);
    options.progress?.(end - from, failures.length);
  }
  const unwell = await target.wellness();
  if (unwell !== null) fail(unwell);
  const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { failures, counts: Object.fromEntries(sorted), ...worst, busiest };
}

const isRequest = (input: FuzzCase): input is RequestCase => 'request' in input;

/** How long the main thread runs for a case when nobody else asks anything: the least of several times. */
async function busyAlone(target: Target, input: FuzzCase, limit?: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 1; time <= TIMES_ALONE; time += 1) {
    const before = target.ran();
    await runCase(target, input, limit);
    least = Math.min(least, target.ran() - before);
  }
  return least;
}

/** Does one case, and says what is wrong with what came of it. */
export async function runCase(
  target: Target,
  input: FuzzCase,
  limit = ANSWERED_WITHIN,
): Promise<{ readonly what: string | null; readonly outcome: string }> {
  const checked = async (came: Promise<Outcome>) => {
    const { fault, outcome } = await came;
    return { what: fault, outcome: `${input.kind} ${outcome}` };
  };
  if (input.kind === 'json') return checked(runCheck(checkJson, input));
  if (input.kind === 'rules') return checked(runCheck(checkRule, input));
  if (input.kind === 'templates') return checked(runCheck(checkTemplate, input));
  if (input.kind === 'files') return checked(runCheck(checkFiles, input));
  if (input.kind === 'mails') return mail(target, input, limit);
  return send(target, input, limit);
}

async function mail(target: Target, input: RequestCase, limit: number) {
  let verdict: Verdict = { fault: null, passing: false };
  let outcome = '';
  for (let time = 1; time <= TRIES; time += 1) {
    const bytes = await target.fillIn(input);
    const leavesAfter = input.request.endsWith('QUIT\r\n') ? GOODBYE_TIMEOUT_MS : TIMEOUT_MS;
    const seen = await exchange({ port: target.ports.bounces, bytes, limit, leavesAfter, greeted: true });
    verdict = judgeMail(seen, isForUs(input.request), limit, target.secrets);
    outcome = `mails ${wasTaken(seen.raw) ? 'taken' : 'refused'}`;
    if (!verdict.passing) break;
    await new Promise((again) => setTimeout(again, 1_000));
  }
  return { what: verdict.fault, outcome };
}

async function send(target: Target, input: RequestCase, limit: number) {
  let verdict: Verdict = { fault: null, passing: false };
  let outcome = '';
  for (let time = 1; time <= TRIES; time += 1) {
    const bytes = await target.fillIn(input);
    const leaves = input.client === 'leaves' ? { leavesAfter: TIMEOUT_MS } : {};
    const seen = await exchange({ port: target.ports[input.to], bytes, limit, ...leaves });
    const [method = '', asked = ''] = input.client === 'stays' ? input.request.split(' ', 2) : [];
    const path = asked.replace(/^http:\/\/[^/]*/, '');
    const bodiless = method === 'HEAD' || (input.client === 'leaves' && input.request.includes('HEAD '));
    const { client, request } = input;
    verdict = judgeExchange(seen, { path, method, bodiless, client, limit, request }, target.secrets);
    outcome = `${input.kind} ${
      seen.answers
        .map(({ status }) => status)
        .slice(0, 1)
        .join() || 'none'
    }`;
    if (!verdict.passing) break;
    await new Promise((again) => setTimeout(again, 1_000));
  }
  return { what: verdict.fault, outcome };
}
