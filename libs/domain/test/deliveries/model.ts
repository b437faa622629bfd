import {
  beginAttempt,
  leaseRanOut,
  openDelivery,
  operatorResend,
  providerResult,
  settleAttempt,
  type Delivery,
  type ProviderVerdict,
} from '../../src/deliveries/index.ts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { givenIntent, LEASE_SPAN, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import { exploreAll, type Explored } from './exploring.ts';
import { ANSWERS } from './provider-answers.ts';

/** The decisions under test. The product's own by default; a mutant replaces one. */
export type Decisions = {
  begin(seen: Delivery, token: string): Delivery | undefined;
  settle(seen: Delivery, token: string, verdict: ProviderVerdict): Delivery;
  sweep(seen: Delivery): Delivery | undefined;
  resend(seen: Delivery): Delivery | undefined;
  /** Whether the ledger takes this write. */
  cas(held: Delivery, next: Delivery): boolean;
  /** What the ledger says of a write that it took. A bulk that does not look who moved a document calls some of its own stale. */
  readonly saysOfTaken: 'done' | 'stale';
  /** Whether a worker whose write got no answer calls without reading whose it is. */
  readonly proceedsBlindly: boolean;
};

const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
const settings = { ...PLAIN_SETTINGS, retry: { ...PLAIN_SETTINGS.retry, attempts: 2 } };

export const PRODUCT: Decisions = {
  begin: (seen, token) =>
    beginAttempt(
      seen,
      { attemptId: token as AttemptId, token, account: 'main', leaseUntil: MORNING + LEASE_SPAN },
      moment,
    ),
  settle: (seen, token, verdict) =>
    settleAttempt(
      seen,
      { token, result: providerResult(verdict, '', ''), settings, chance: 0, anotherAccount: false },
      moment,
    ),
  sweep: (seen) => leaseRanOut(seen, settings, moment),
  resend(seen) {
    const resent = operatorResend(seen, settings.expires, 'ann', moment);
    return resent.ok ? resent.value : undefined;
  },
  cas: (held, next) => held.version === next.version - 1,
  saysOfTaken: 'done',
  proceedsBlindly: false,
};

export type Bounds = {
  readonly calls: number;
  readonly crashes: number;
  readonly lost: number;
  readonly waivers: number;
};

/** What a worker is at: has read it, wrote without an answer, owns it, has its answer, read it to write that down. */
type Doing = 'idle' | 'read' | 'unsure' | 'owns' | 'answered' | 'settling';
type Worker = { doing: Doing; seen: Delivery | null; token: string; verdict: ProviderVerdict | null };
type State = {
  doc: Delivery;
  workers: [Worker, Worker];
  sweeper: Delivery | null;
  operator: Delivery | null;
  /** Tokens of calls that the provider accepted, whatever it said. */
  accepted: string[];
  calls: number;
  crashes: number;
  lost: number;
  waivers: number;
  begunAfterProof: boolean;
  endTakenBack: boolean;
};

const ENDED: ReadonlySet<Delivery['state']> = new Set(['SENT', 'FAILED']);
const idle = (): Worker => ({ doing: 'idle', seen: null, token: '', verdict: null });
/** The story of a document decides nothing; without it fewer states differ. */
const slim = (doc: Delivery): Delivery => ({ ...doc, history: [], unpublished: [], detail: '', reason: 'new' });
const isProven = (doc: Delivery): boolean => doc.attempts.some((attempt) => attempt.result?.verdict === 'accepted');

/** Returns the first unused name. Both workers get names the same way, so that swapping them gives the same state. */
function freshToken({ doc, workers, accepted }: State): string {
  const used = new Set([...doc.attempts.map(({ token }) => token), ...workers.map(({ token }) => token), ...accepted]);
  let number = 1;
  while (used.has(`t${number}`)) number += 1;
  return `t${number}`;
}

const docKey = (doc: Delivery | null): string =>
  doc === null
    ? '-'
    : `${doc.version}${doc.state}${doc.token ?? ''}${doc.attemptsUsed}${doc.clean ? 'c' : ''}${doc.attempts
        .map(({ token, result }) => `${token}${result?.verdict ?? '?'}`)
        .join()}`;

/** Returns a key of the state that is equal if only the workers are swapped. */
function stateKey(state: State): string {
  const { doc, workers, sweeper, operator, accepted, calls, crashes, lost, waivers, begunAfterProof, endTakenBack } =
    state;
  const both = workers.map((one) => `${one.doing}${one.token}${one.verdict ?? ''}${docKey(one.seen)}`).toSorted();
  return [
    docKey(doc),
    ...both,
    docKey(sweeper),
    docKey(operator),
    accepted,
    calls,
    crashes,
    lost,
    waivers,
    begunAfterProof,
    endTakenBack,
  ].join('|');
}

/** Every step that can come next: two workers, a sweeper that finds a lease run out whenever it likes, an operator. */
class Model {
  readonly #rules: Decisions;
  readonly #bounds: Bounds;
  constructor(rules: Decisions, bounds: Bounds) {
    this.#rules = rules;
    this.#bounds = bounds;
  }

  begin(): State {
    const doc = slim(openDelivery(givenIntent('first'), '', 'dlv_1' as DeliveryId, moment));
    const counts = { calls: 0, crashes: 0, lost: 0, waivers: 0, begunAfterProof: false, endTakenBack: false };
    return { doc, workers: [idle(), idle()], sweeper: null, operator: null, accepted: [], ...counts };
  }

  *next(state: State): Generator<readonly [label: string, next: State]> {
    for (const index of [0, 1] as const) {
      const go = (label: string, change: (next: State, worker: Worker) => void): readonly [string, State] => {
        const worker = { ...state.workers[index] };
        const next: State = { ...state, workers: [...state.workers] };
        next.workers[index] = worker;
        change(next, worker);
        return [`worker ${index} ${label}`, next];
      };
      yield* this.#worker(state, state.workers[index], go);
      if (state.workers[index].doing !== 'idle' && state.crashes < this.#bounds.crashes) {
        yield go('CRASHES', (next, worker) => {
          next.crashes += 1;
          Object.assign(worker, idle());
        });
      }
    }
    yield* this.#sweeper(state);
    yield* this.#operator(state);
  }

  /** A write with every way in which it can end: done or refused, and either without an answer. */
  *#write(
    state: State,
    candidate: Delivery | undefined,
    what: string,
    go: (label: string, change: (next: State, worker: Worker) => void) => readonly [string, State],
    then: (next: State, worker: Worker, answer: 'done' | 'stale' | 'unsure') => void,
  ): Generator<readonly [string, State]> {
    if (!candidate) {
      yield go(`may not ${what}`, (next, worker) => then(next, worker, 'stale'));
      return;
    }
    const taken = this.#rules.cas(state.doc, candidate);
    const doc = slim(candidate);
    yield go(`${what}${taken ? '' : ': stale'}`, (next, worker) => {
      if (taken) next.doc = doc;
      then(next, worker, taken ? this.#rules.saysOfTaken : 'stale');
    });
    if (state.lost >= this.#bounds.lost) return;
    for (const applied of taken ? [true, false] : [false]) {
      yield go(`${what}, ${applied ? 'done' : 'not done'}, no answer`, (next, worker) => {
        next.lost += 1;
        if (applied) next.doc = doc;
        then(next, worker, 'unsure');
      });
    }
  }

  *#worker(
    state: State,
    worker: Worker,
    go: (label: string, change: (next: State, worker: Worker) => void) => readonly [string, State],
  ): Generator<readonly [string, State]> {
    const token = freshToken(state);
    switch (worker.doing) {
      case 'idle':
        if (state.doc.state === 'WAITING' && state.calls < this.#bounds.calls) {
          yield go('finds it due', (_, mine) => Object.assign(mine, { doing: 'read', seen: state.doc, token }));
        }
        return;
      case 'read': {
        const candidate = worker.seen ? this.#rules.begin(worker.seen, worker.token) : undefined;
        yield* this.#write(state, candidate, 'steps into SENDING', go, (next, mine, answer) => {
          next.begunAfterProof ||= next.doc !== state.doc && isProven(state.doc);
          if (answer === 'done') mine.doing = 'owns';
          else if (answer === 'unsure') mine.doing = 'unsure';
          else Object.assign(mine, idle());
        });
        return;
      }
      case 'unsure': {
        const own = state.doc.token === worker.token && state.doc.state === 'SENDING';
        yield go(own ? 'reads that it owns it' : 'reads that it does not', (_, mine) => {
          if (own || this.#rules.proceedsBlindly) mine.doing = 'owns';
          else Object.assign(mine, idle());
        });
        return;
      }
      case 'owns':
        for (const [verdict, isAccepted] of ANSWERS) {
          yield go(`calls: ${verdict}${isAccepted ? ' (accepted)' : ''}`, (next, mine) => {
            next.calls += 1;
            if (isAccepted) next.accepted = [...next.accepted, mine.token].toSorted();
            Object.assign(mine, { doing: 'answered', verdict, seen: null });
          });
        }
        return;
      case 'answered':
        yield go('reads it to write the answer down', (_, mine) => {
          const told = state.doc.attempts.some((one) => one.token === mine.token && one.result !== null);
          Object.assign(mine, told ? idle() : { doing: 'settling', seen: state.doc });
        });
        return;
      case 'settling': {
        const { seen, verdict } = worker;
        if (!seen || !verdict) return;
        yield* this.#write(
          state,
          this.#rules.settle(seen, worker.token, verdict),
          'writes its answer',
          go,
          (next, mine, answer) => {
            next.endTakenBack ||= ENDED.has(state.doc.state) && !ENDED.has(next.doc.state);
            if (answer === 'done') Object.assign(mine, idle());
            else mine.doing = 'answered';
          },
        );
      }
    }
  }

  *#sweeper(state: State): Generator<readonly [string, State]> {
    if (state.sweeper === null) {
      const due = state.doc.state === 'SENDING' && this.#rules.sweep(state.doc) !== undefined;
      if (due) yield ['sweeper finds a lease run out', { ...state, sweeper: state.doc }];
      return;
    }
    const next = this.#rules.sweep(state.sweeper);
    const taken = next && this.#rules.cas(state.doc, next);
    yield [`sweeper writes${taken ? '' : ': stale'}`, { ...state, sweeper: null, doc: taken ? slim(next) : state.doc }];
  }

  *#operator(state: State): Generator<readonly [string, State]> {
    if (state.operator === null) {
      const wants =
        (state.doc.state === 'IN_DOUBT' || state.doc.state === 'FAILED') && state.waivers < this.#bounds.waivers;
      if (wants) yield ['operator looks at it', { ...state, operator: state.doc }];
      return;
    }
    const next = this.#rules.resend(state.operator);
    const taken = next && this.#rules.cas(state.doc, next);
    const waivers = state.waivers + (taken ? 1 : 0);
    yield ['operator resends', { ...state, operator: null, waivers, doc: taken ? slim(next) : state.doc }];
  }
}

function fault(state: State, isEnd: boolean, bounds: Bounds): string | undefined {
  if (state.accepted.length > 1 + state.waivers) return 'accepted twice';
  if (state.begunAfterProof) return 'begun although it was known to be accepted';
  if (state.endTakenBack) return 'an end was taken back by an answer';
  if (!isEnd) return undefined;
  const { doc, accepted } = state;
  const nothingFails = bounds.crashes === 0 && bounds.lost === 0;
  if (nothingFails && doc.attempts.some(({ result }) => result === null)) return 'a call that was never made';
  if (doc.state === 'SENDING') return 'stuck in SENDING';
  if (doc.state === 'WAITING' && state.calls < bounds.calls) return 'stuck in WAITING';
  if (doc.state === 'SENT' && accepted.length === 0) return 'SENT, but nobody accepted it';
  if (doc.state === 'FAILED' && accepted.length > 0 && state.waivers === 0) return 'FAILED, but it was accepted';
  return undefined;
}

/** Every interleaving within the bounds. */
export function explore(rules: Decisions, bounds: Bounds): Explored {
  const model = new Model(rules, bounds);
  return exploreAll<State>({
    begin: () => model.begin(),
    next: (state) => model.next(state),
    key: stateKey,
    isOptional: (label) => label.endsWith('CRASHES') || label.startsWith('operator'),
    fault: (state, isEnd) => fault(state, isEnd, bounds),
    nameOf: ({ doc }) => doc.state,
  });
}
