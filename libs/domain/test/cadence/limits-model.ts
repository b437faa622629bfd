import {
  fateOf,
  fenced,
  decideLimits,
  withEntry,
  withFound,
  withoutEntry,
  type FrequencyLimit,
  type SentEntry,
  type SentToPerson,
} from '../../src/cadence/index.ts';
import {
  beginAttempt,
  endUnsent,
  decideCustody,
  leaseRanOut,
  openDelivery,
  operatorCancel,
  providerResult,
  settleAttempt,
  type Delivery,
  type Intent,
  type ProviderVerdict,
} from '../../src/deliveries/index.ts';
import type { AttemptId, DeliveryId, Duration } from '@carillon/kernel';
import { givenIntent, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import { exploreAll, type Explored } from '../deliveries/exploring.ts';
import {
  counted,
  fault,
  keyOf,
  noted,
  put,
  replaced,
  type Found,
  type State,
  type Which,
  type Worker,
} from './limits-state.ts';

/** The steps under test, as the product takes them. A mutant changes one. */
export type LimitSteps = {
  /** The document with a place more. */
  take(before: SentToPerson | null, entry: SentEntry, revision: string): SentToPerson;
  /** The document without what came to nothing. */
  giveBack(
    before: SentToPerson | null,
    entry: Pick<SentEntry, 'deliveryId' | 'token'>,
    revision: string,
  ): SentToPerson | undefined;
  /** What an entry is, by the delivery that it belongs to. */
  readonly fate: typeof fateOf;
  /** True if a worker increments the delivery's version before it removes an abandoned reservation. */
  readonly fences: boolean;
  /** Whether the place is taken once the message is sent. */
  readonly takesAfter: boolean;
  /** Whether what nobody has looked at fills a limit. */
  readonly dropsOnAnyEntry: boolean;
};

const NOW = MORNING;
const OLD: Duration = 30_000;
const LIMIT: FrequencyLimit = {
  counted: { notificationId: null, category: null, channels: null },
  max: 1,
  per: { rolling: 86_400_000 },
  action: 'drop',
};
const limitIndex = { of: () => [LIMIT] };
const PERSON = { workspace: 'shop', person: 'ada' };
const moment = { now: NOW, derive: (...parts: readonly string[]) => parts.join('/') };
const settings = { ...PLAIN_SETTINGS, retry: { ...PLAIN_SETTINGS.retry, attempts: 2 } };
const pruning = (revision: string) => ({ index: limitIndex, zone: 'UTC', now: NOW, revision });

export const PRODUCT: LimitSteps = {
  take: (before, entry, revision) => withEntry(before, PERSON, entry, pruning(revision)),
  giveBack: (before, { token }, revision) => withoutEntry(before, token, revision),
  fate: fateOf,
  fences: true,
  takesAfter: false,
  dropsOnAnyEntry: false,
};

export type LimitBounds = {
  /** Steps into SENDING and places, together. */
  readonly tokens: number;
  readonly crashes: number;
  readonly cancels: number;
  /** How often another intent comes for a slot. */
  readonly others: number;
};

const IDLE: Worker = { at: 'idle' };
const intentOf = (which: Which, edition: number): Intent =>
  givenIntent(`${which}.${edition}`, { uniqueId: `order-${which}`, notAfter: NOW + 86_400_000 });
const open = (which: Which): Delivery => openDelivery(intentOf(which, 0), '', `dlv_${which}` as DeliveryId, moment);
const messageOf = ({ intent, slot }: Delivery) => ({
  triggerId: intent.triggerId,
  notificationId: slot.notificationId,
  category: null,
  channel: slot.channel,
});
const NOTHING: Found = { sure: [], gone: [] };
const FRESH = { document: null, left: [], met: null, found: NOTHING, waitedFor: [], doubts: [] } as const;

/** What the provider may say, and whether the person got it. */
const ANSWERS: readonly (readonly [ProviderVerdict, boolean])[] = [
  ['accepted', true],
  ['transient', false],
  ['ambiguous', true],
  ['ambiguous', false],
  ['refused_content', false],
];

type Go = (to: Worker, from?: State) => State;
type Sender = Extract<Worker, { at: 'steps' | 'asks whose' | 'sends' | 'settles' | 'gives back' }>;

class LimitModel {
  readonly #steps: LimitSteps;
  readonly #bounds: LimitBounds;
  constructor(steps: LimitSteps, bounds: LimitBounds) {
    this.#steps = steps;
    this.#bounds = bounds;
  }

  *next(state: State): Generator<readonly [string, State]> {
    for (const index of [0, 1] as const) {
      for (const [label, next] of this.#worker(state, index)) yield [`worker ${index} ${label}`, next];
      if (state.workers[index].at !== 'idle' && state.crashes < this.#bounds.crashes) {
        yield [`worker ${index} DIES`, put({ ...state, crashes: state.crashes + 1 }, index, IDLE)];
      }
    }
    yield* this.#surroundings(state);
  }

  *#worker(state: State, index: Which): Generator<readonly [string, State]> {
    const worker = state.workers[index];
    const go: Go = (to, from = state) => put(from, index, to);
    const token = `t${state.tokens}`;
    const revision = `r${state.writes}`;
    switch (worker.at) {
      case 'idle': {
        for (const which of [0, 1] as const) {
          const seen = state.deliveries[which];
          if (seen.state !== 'WAITING' || state.tokens >= this.#bounds.tokens) continue;
          if (this.#steps.takesAfter) {
            yield [`reads ${which}`, go({ at: 'steps', which, seen, token }, { ...state, tokens: state.tokens + 1 })];
            continue;
          }
          yield [`reads ${which}`, go({ at: 'judges', which, seen, ...FRESH, sent: false })];
        }
        return;
      }
      case 'judges': {
        const { document } = state;
        const others = (document?.entries ?? [])
          .filter(({ deliveryId }) => deliveryId !== worker.seen.id)
          .map((entry) => (worker.doubts.includes(entry.token) ? { ...entry, sure: true } : entry));
        const verdict = decideLimits([LIMIT], others, messageOf(worker.seen), 'UTC', NOW);
        if (verdict.kind === 'room' || worker.sent) yield ['sees room', go({ ...worker, at: 'takes', document })];
        else if (verdict.kind === 'full' || this.#steps.dropsOnAnyEntry)
          yield ['sees it full', go({ ...worker, at: 'drops' })];
        else {
          const left = verdict.entries.filter((entry) => !worker.waitedFor.includes(entry.token));
          if (left.length === 0) yield ['looks again later', go(IDLE)];
          else yield ['has to look', go({ ...worker, at: 'looks', document, left, found: NOTHING })];
        }
        return;
      }
      case 'takes': {
        if ((state.document?.revision ?? null) !== (worker.document?.revision ?? null)) {
          yield ['takes nothing: somebody was faster', go({ ...worker, at: 'judges' })];
          return;
        }
        if (state.tokens >= this.#bounds.tokens) return;
        const entry: SentEntry = {
          ...messageOf(worker.seen),
          deliveryId: worker.seen.id,
          token,
          at: NOW,
          sure: false,
        };
        const taken = {
          ...state,
          writes: state.writes + 1,
          tokens: state.tokens + 1,
          document: this.#steps.take(worker.document, entry, revision),
        };
        const then: Worker = worker.sent ? IDLE : { at: 'steps', which: worker.which, seen: worker.seen, token };
        yield ['takes a place', go(then, taken)];
        return;
      }
      case 'looks': {
        const [entry, ...left] = worker.left;
        if (!entry) {
          const any = worker.found.sure.length + worker.found.gone.length > 0;
          yield ['has looked', go({ ...worker, at: any ? 'marks' : 'judges' })];
          return;
        }
        const met = state.deliveries.find(({ id }) => id === entry.deliveryId) ?? null;
        // Its age is chance.
        for (const fate of new Set([NOW, NOW + OLD].map((now) => this.#steps.fate(entry, met, now)))) {
          if (fate === 'fence' && this.#steps.fences) yield ['is to fence', go({ ...worker, at: 'fences', met })];
          else yield [`finds it ${fate}`, go({ ...worker, left, ...noted(worker, entry.token, fate) })];
        }
        return;
      }
      case 'fences': {
        const [entry, ...left] = worker.left;
        if (!entry || !worker.met) return;
        const next = fenced(worker.met);
        const after = replaced(state, next);
        const fate = after ? 'gone' : 'again';
        yield [
          after ? 'fences' : 'fences nothing',
          go({ ...worker, at: 'looks', left, met: null, ...noted(worker, entry.token, fate) }, after ?? state),
        ];
        return;
      }
      case 'marks':
        yield* this.#marks(state, worker, go);
        return;
      case 'drops': {
        const next = endUnsent(worker.seen, 'SUPPRESSED', 'capped', '', moment);
        yield ['drops it', go(IDLE, (next && replaced(state, next)) ?? state)];
        return;
      }
      case 'steps':
      case 'asks whose':
      case 'sends':
      case 'settles':
      case 'gives back':
        yield* this.#sender(state, worker, go);
    }
  }

  *#marks(
    state: State,
    worker: Extract<Worker, { readonly found: unknown }>,
    go: Go,
  ): Generator<readonly [string, State]> {
    const { document, found } = worker;
    if (!document || state.document?.revision !== document.revision) {
      yield ['marks nothing: somebody was faster', go({ ...worker, at: 'judges' })];
      return;
    }
    const sets = { sure: new Set(found.sure), gone: new Set(found.gone) };
    const marked = withFound(document, sets, pruning(`r${state.writes}`));
    yield ['marks', go({ ...worker, at: 'judges' }, { ...state, writes: state.writes + 1, document: marked })];
  }

  /** The worker once it has decided to send. */
  *#sender(state: State, worker: Sender, go: Go): Generator<readonly [string, State]> {
    const revision = `r${state.writes}`;
    switch (worker.at) {
      case 'steps': {
        const { which, seen } = worker;
        const start = {
          attemptId: worker.token as AttemptId,
          token: worker.token,
          account: 'main',
          leaseUntil: NOW + OLD,
        };
        const next = beginAttempt(seen, start, moment);
        const after = next && replaced(state, next);
        if (after) yield ['steps into SENDING', go({ at: 'sends', which, token: worker.token }, after)];
        else yield ['loses the step', go({ at: 'asks whose', which, token: worker.token })];
        return;
      }
      case 'asks whose': {
        const stepped = state.deliveries[worker.which].attempts.some((attempt) => attempt.token === worker.token);
        yield [stepped ? 'keeps its place' : 'is to give back', go(stepped ? IDLE : { ...worker, at: 'gives back' })];
        return;
      }
      case 'sends': {
        const { which } = worker;
        for (const [verdict, arrives] of ANSWERS) {
          const accepted = arrives ? counted(state.accepted, which) : state.accepted;
          yield [
            `hears ${verdict}${arrives ? ', it arrived' : ''}`,
            go({ ...worker, at: 'settles', verdict }, { ...state, accepted }),
          ];
        }
        return;
      }
      case 'settles': {
        const { which, verdict } = worker;
        const before = state.deliveries[which];
        const held = before.token === worker.token && (before.state === 'SENDING' || before.state === 'IN_DOUBT');
        const settling = { token: worker.token, settings, chance: 0, anotherAccount: false };
        const next = settleAttempt(before, { ...settling, result: providerResult(verdict, '', '') }, moment);
        const after = replaced(state, next) ?? state;
        const refused = verdict !== 'accepted' && verdict !== 'ambiguous';
        if (this.#steps.takesAfter && verdict === 'accepted') {
          yield ['settles', go({ at: 'judges', which, seen: next, ...FRESH, sent: true }, after)];
          return;
        }
        const then: Worker = held && refused ? { at: 'gives back', which, token: worker.token } : IDLE;
        yield ['settles', go(then, after)];
        return;
      }
      case 'gives back': {
        const entry = { deliveryId: state.deliveries[worker.which].id, token: worker.token };
        const next = this.#steps.giveBack(state.document, entry, revision);
        yield ['gives back', go(IDLE, next ? { ...state, writes: state.writes + 1, document: next } : state)];
        return;
      }
    }
  }

  *#surroundings(state: State): Generator<readonly [string, State]> {
    for (const which of [0, 1] as const) {
      const before = state.deliveries[which];
      const doubted = leaseRanOut(before, settings, moment);
      const swept = doubted && replaced(state, doubted);
      if (swept) yield [`sweeper doubts ${which}`, swept];
      if (state.cancels < this.#bounds.cancels) {
        const cancelled = operatorCancel(before, 'ann', moment);
        const after = cancelled.ok && replaced({ ...state, cancels: state.cancels + 1 }, cancelled.value);
        if (after) yield [`operator cancels ${which}`, after];
      }
      if (state.others < this.#bounds.others) {
        const judged = decideCustody(before, intentOf(which, state.others + 1), '', moment);
        const after = judged.kind === 'taken_over' && replaced({ ...state, others: state.others + 1 }, judged.next);
        if (after) yield [`another intent takes ${which} over`, after];
      }
    }
  }
}

/** Every order of two workers at two messages to one person under a limit of one. */
export function exploreLimits(steps: LimitSteps, bounds: LimitBounds): Explored {
  const model = new LimitModel(steps, bounds);
  return exploreAll<State>({
    begin: () => ({
      document: null,
      deliveries: [open(0), open(1)],
      accepted: [0, 0],
      workers: [IDLE, IDLE],
      writes: 0,
      tokens: 0,
      crashes: 0,
      cancels: 0,
      others: 0,
    }),
    next: (state) => model.next(state),
    key: keyOf,
    isOptional: (label) => /DIES|operator|another intent/.test(label),
    fault,
    nameOf: ({ deliveries }) =>
      deliveries
        .map(({ state }) => state)
        .toSorted()
        .join(' and '),
  });
}
