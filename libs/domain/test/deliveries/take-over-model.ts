import {
  beginAttempt,
  endUnsent,
  decideCustody,
  leaseRanOut,
  openDelivery,
  operatorCancel,
  operatorDismiss,
  providerResult,
  settleAttempt,
  type Delivery,
  type Intent,
  type CustodyDecision,
  type ProviderVerdict,
} from '../../src/deliveries/index.ts';
import type { AttemptId, DeliveryId, IntentId } from '@carillon/kernel';
import { givenIntent, LEASE_SPAN, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import { exploreAll, type Explored } from './exploring.ts';
import { ANSWERS } from './provider-answers.ts';

/** The decisions under test. The product's own by default; a mutant replaces one. */
export type SlotDecisions = {
  judge(holder: Delivery, intent: Intent): CustodyDecision;
  sweep(seen: Delivery): Delivery | undefined;
  /** Whether the ledger takes this write. */
  cas(held: Delivery, next: Delivery): boolean;
  /** Whether the ledger takes a new document though the slot has one. */
  readonly insertsOver: boolean;
};

const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
const settings = { ...PLAIN_SETTINGS, retry: { ...PLAIN_SETTINGS.retry, attempts: 2 } };
const open = (intent: Intent): Delivery => openDelivery(intent, '', 'dlv_1' as DeliveryId, moment);

export const PRODUCT: SlotDecisions = {
  judge: (holder, intent) => decideCustody(holder, intent, '', moment),
  sweep: (seen) => leaseRanOut(seen, settings, moment),
  cas: (held, next) => held.version === next.version - 1,
  insertsOver: false,
};

export type SlotBounds = {
  /** How many intents want the slot; the last of three has no address. */
  readonly intents: number;
  readonly calls: number;
  /** How often an intent that was judged comes again. */
  readonly repeats: number;
  /** Custody workers or senders that die, and writes whose answer is lost, together. */
  readonly mishaps: number;
};

/** A worker of custody: has an intent to insert, or the holder that it read, against which it judges. */
type Taker = { readonly intent: number; readonly holder: Delivery | null };
type Sender =
  | { readonly doing: 'read'; readonly seen: Delivery }
  | { readonly doing: 'owns'; readonly token: string }
  | {
      readonly doing: 'settles';
      readonly token: string;
      readonly verdict: ProviderVerdict;
      readonly seen: Delivery | null;
    };

type State = {
  readonly doc: Delivery | null;
  readonly takers: readonly [Taker | null, Taker | null];
  readonly sender: Sender | null;
  /**
   * Version read by an actor that is about to end the delivery: the check before sending, the sweeper, or an operator.
   */
  readonly ender: { readonly who: Ending; readonly seen: Delivery } | null;
  readonly judged: readonly number[];
  /** Intents that held the slot, in their order. */
  readonly held: readonly IntentId[];
  readonly accepted: number;
  readonly calls: number;
  readonly repeats: number;
  readonly mishaps: number;
  readonly operated: boolean;
  readonly broken: string | null;
};

type Ending = 'expires' | 'sweeper' | 'operator cancels' | 'operator dismisses';
const ENDINGS: readonly Ending[] = ['expires', 'sweeper', 'operator cancels', 'operator dismisses'];
const TAKES_WAY: ReadonlySet<Delivery['state']> = new Set(['SUPPRESSED', 'EXPIRED', 'FAILED']);

const intents: readonly Intent[] = [givenIntent('a'), givenIntent('b'), givenIntent('c', { to: null })];
const slim = (doc: Delivery): Delivery => ({ ...doc, history: [], unpublished: [], detail: '' });
const docKey = (doc: Delivery | null): string =>
  doc === null
    ? '-'
    : [
        doc.version,
        doc.state,
        doc.token,
        doc.intent.id,
        doc.clean,
        doc.attemptsUsed,
        doc.duplicates,
        doc.judged,
        doc.attempts.map(({ token, result }) => `${token}${result?.verdict ?? '?'}`),
      ].join();

function stateKey({ doc, takers, sender, ender, ...rest }: State): string {
  const both = takers.map((one) => (one ? `${one.intent}${docKey(one.holder)}` : '-')).toSorted();
  const sending = sender && { ...sender, seen: docKey('seen' in sender ? sender.seen : null) };
  return JSON.stringify([docKey(doc), both, sending, ender && [ender.who, docKey(ender.seen)], rest]);
}

class SlotModel {
  readonly #rules: SlotDecisions;
  readonly #bounds: SlotBounds;
  constructor(rules: SlotDecisions, bounds: SlotBounds) {
    this.#rules = rules;
    this.#bounds = bounds;
  }

  /** The document that stands after a write, with what has to hold of it. */
  #written(state: State, next: Delivery): State {
    const { doc, held } = state;
    const holder = next.intent.id;
    const isNew = doc?.intent.id !== holder;
    let broken = state.broken;
    if (isNew && doc && !(TAKES_WAY.has(doc.state) && doc.clean)) broken ??= `${doc.state} lost its slot`;
    if (isNew && held.includes(holder)) broken ??= 'a holder came back';
    return { ...state, doc: slim(next), held: isNew ? [...held, holder] : held, broken };
  }

  /** A write with every way in which it can end; `then` gets whether it was taken, or null where nobody knows. */
  *#write(
    state: State,
    label: string,
    next: Delivery | undefined,
    then: (state: State, taken: boolean | null) => State,
  ): Generator<readonly [string, State]> {
    const { doc } = state;
    const taken = next !== undefined && (doc === null || this.#rules.cas(doc, next));
    const after = taken ? this.#written(state, next) : state;
    yield [`${label}${taken ? '' : ': stale'}`, then(after, taken)];
    if (next === undefined || state.mishaps >= this.#bounds.mishaps) return;
    for (const [words, left] of taken
      ? ([
          ['done', after],
          ['not done', state],
        ] as const)
      : ([['stale', state]] as const)) {
      yield [`${label}, ${words}, no answer`, then({ ...left, mishaps: left.mishaps + 1 }, null)];
    }
  }

  *next(state: State): Generator<readonly [label: string, next: State]> {
    if (state.broken !== null) return;
    for (const index of [0, 1] as const) yield* this.#taker(state, index);
    yield* this.#sender(state);
    yield* this.#ender(state);
  }

  *#taker(state: State, index: 0 | 1): Generator<readonly [string, State]> {
    const taker = state.takers[index];
    const put = (into: State, one: Taker | null): State => ({
      ...into,
      takers: index === 0 ? [one, into.takers[1]] : [into.takers[0], one],
    });
    const name = `taker ${index}`;
    if (!taker) {
      for (let intent = 0; intent < this.#bounds.intents; intent += 1) {
        const again = state.judged.includes(intent);
        if (again && state.repeats >= this.#bounds.repeats) continue;
        const repeats = state.repeats + (again ? 1 : 0);
        yield [
          `${name} gets intent ${intent}${again ? ' again' : ''}`,
          put({ ...state, repeats }, { intent, holder: null }),
        ];
      }
      return;
    }
    const intent = intents[taker.intent];
    if (!intent) return;
    const judged = (from: State): State =>
      put({ ...from, judged: [...new Set([...from.judged, taker.intent])].toSorted((a, b) => a - b) }, null);
    if (taker.holder === null) {
      if (state.doc !== null && !this.#rules.insertsOver) {
        yield [`${name} finds the slot taken`, put(state, { ...taker, holder: state.doc })];
        return;
      }
      yield* this.#write({ ...state, doc: null }, `${name} opens it`, open(intent), (after, taken) =>
        // Whether it was done or not, the batch comes again.
        taken === true ? judged(after) : put({ ...after, doc: after.doc ?? state.doc }, null),
      );
      return;
    }
    const judgement = this.#rules.judge(taker.holder, intent);
    if (judgement.kind === 'known') {
      yield [`${name} knows it`, judged(state)];
      return;
    }
    yield* this.#write(state, `${name}: ${judgement.kind}`, judgement.next, (after, taken) => {
      if (taken === null) return put(after, null);
      return taken ? judged(after) : put(after, { ...taker, holder: after.doc });
    });
  }

  *#sender(state: State): Generator<readonly [string, State]> {
    const { sender, doc, calls, mishaps } = state;
    if (sender === null) {
      if (doc?.state === 'WAITING' && calls < this.#bounds.calls) {
        yield ['sender finds it due', { ...state, sender: { doing: 'read', seen: doc } }];
      }
      return;
    }
    if (mishaps < this.#bounds.mishaps) yield ['sender DIES', { ...state, sender: null, mishaps: mishaps + 1 }];
    const token = `t${calls}`;
    if (sender.doing === 'read') {
      const start = { attemptId: token as AttemptId, token, account: 'main', leaseUntil: MORNING + LEASE_SPAN };
      // One whose write got no answer reads whose it is; the other model shows that.
      yield* this.#write(
        state,
        'sender steps into SENDING',
        beginAttempt(sender.seen, start, moment),
        (after, taken) => ({
          ...after,
          calls: calls + 1,
          sender: taken ? { doing: 'owns', token } : null,
        }),
      );
    } else if (sender.doing === 'owns') {
      for (const [verdict, isAccepted] of ANSWERS) {
        const accepted = state.accepted + (isAccepted ? 1 : 0);
        const next: Sender = { doing: 'settles', token: sender.token, verdict, seen: null };
        yield [`the provider says ${verdict}${isAccepted ? ' (accepted)' : ''}`, { ...state, accepted, sender: next }];
      }
    } else if (sender.seen === null) {
      yield ['sender reads it to write the answer down', { ...state, sender: { ...sender, seen: doc } }];
    } else {
      const settling = { token: sender.token, settings, chance: 0, anotherAccount: false };
      const result = providerResult(sender.verdict, '', '');
      const next = settleAttempt(sender.seen, { ...settling, result }, moment);
      yield* this.#write(state, 'sender writes the answer', next, (after, taken) => ({
        ...after,
        sender: taken === true ? null : { ...sender, seen: null },
      }));
    }
  }

  *#ender(state: State): Generator<readonly [string, State]> {
    const { ender, doc } = state;
    if (ender) {
      yield* this.#write(state, ender.who, this.#end(ender.who, ender.seen), (after) => ({ ...after, ender: null }));
      return;
    }
    if (!doc) return;
    for (const who of ENDINGS) {
      if (who.startsWith('operator') && state.operated) continue;
      if (!this.#end(who, doc)) continue;
      const operated = state.operated || who.startsWith('operator');
      yield [`${who}: reads it`, { ...state, operated, ender: { who, seen: doc } }];
    }
  }

  #end(who: Ending, seen: Delivery): Delivery | undefined {
    if (who === 'sweeper') return this.#rules.sweep(seen);
    if (who === 'expires') return endUnsent(seen, 'EXPIRED', 'not_after_passed', '', moment);
    const ended =
      who === 'operator cancels'
        ? operatorCancel(seen, 'ann', moment)
        : operatorDismiss(seen, 'failed', 'no word of it', 'ann', moment);
    return ended.ok ? ended.value : undefined;
  }
}

function fault(state: State, isEnd: boolean, bounds: SlotBounds): string | undefined {
  const { doc, accepted, judged, held } = state;
  if (state.broken !== null) return state.broken;
  if (accepted > 1) return 'accepted twice';
  if (!doc) return undefined;
  if (doc.duplicates > bounds.intents - 1) return 'counted twice';
  const lost = judged.find((one) => !doc.judged.includes(intents[one]?.id ?? ('' as IntentId)));
  if (lost !== undefined) return `intent ${lost} is lost`;
  if (!isEnd) return undefined;
  if (judged.length < bounds.intents) return 'an intent was not judged';
  if (doc.duplicates !== bounds.intents - held.length) return 'not every intent holds, held, or counts once';
  return undefined;
}

/** Every order of two takers, a sender, a sweeper, the checks before sending and an operator at one slot. */
export function exploreSlot(rules: SlotDecisions, bounds: SlotBounds): Explored {
  const model = new SlotModel(rules, bounds);
  return exploreAll<State>({
    begin: () => ({
      doc: null,
      takers: [null, null],
      sender: null,
      ender: null,
      judged: [],
      held: [],
      accepted: 0,
      calls: 0,
      repeats: 0,
      mishaps: 0,
      operated: false,
      broken: null,
    }),
    next: (state) => model.next(state),
    key: stateKey,
    isOptional: (label) =>
      !/^taker|^sender (reads|writes)|^the provider|: reads it$/.test(label) || label.endsWith(' again'),
    fault: (state, isEnd) => fault(state, isEnd, bounds),
    nameOf: ({ doc, held }) => `${doc?.state ?? 'free'} after ${held.length}`,
  });
}
