import type { Change } from '@carillon/domain/changes';
import { describeReason, type Delivery } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** One line of a trace. It has no body, and an address only if that identifies the person. */
export type TraceStep = {
  readonly at: Instant | null;
  readonly step:
    | 'event'
    | 'evaluation'
    | 'rule'
    | 'trigger'
    | 'lookup'
    | 'intent'
    | 'delivery'
    | 'attempt'
    | 'duplicate'
    | 'dead_letter';
  readonly id: string | null;
  readonly position: string | null;
  readonly configNumber: number | null;
  readonly rule: string | null;
  readonly ruleVersion: number | null;
  readonly state: string | null;
  readonly reason: string | null;
  /** Person of the step, as named by the rule. Null: all people, or unknown. */
  readonly person: string | null;
  readonly text: string;
  /** Further lines, such as the value of each sub-expression. */
  readonly lines: readonly string[];
};

export const step = (
  kind: TraceStep['step'],
  at: Instant | null,
  text: string,
  more: Partial<TraceStep> = {},
): TraceStep => ({
  at,
  step: kind,
  id: null,
  position: null,
  configNumber: null,
  rule: null,
  ruleVersion: null,
  state: null,
  reason: null,
  person: null,
  text,
  lines: [],
  ...more,
});

export const traceLines = (traceId: string | null): readonly string[] => (traceId === null ? [] : [`trace ${traceId}`]);

/** Describes the origin of a change: operation, table, transaction and database. */
export function changeLines({ op, source }: Change): readonly string[] {
  const { table, tx, integration, at, position } = source;
  return [`${op} of ${table} in transaction ${tx} of ${integration}, committed at ${at}, position ${position}`];
}

/** Returns the steps of a delivery: custody, attempts and moves, of all intents of the slot or of one. */
export function deliverySteps(delivery: Delivery, intentId?: string): TraceStep[] {
  const moves = delivery.history
    .filter((entry) => intentId === undefined || entry.intentId === intentId)
    .map((entry) =>
      step('delivery', entry.at, entry.detail === '' ? describeReason(entry.reason) : entry.detail, {
        id: delivery.id,
        state: entry.state,
        reason: entry.reason,
        person: personOf(entry.intentId, delivery),
      }),
    );
  const attempts = delivery.attempts
    .map((attempt) => ({ attempt, holder: holderAt(attempt.startedAt, delivery) }))
    .filter(({ holder }) => intentId === undefined || holder === intentId)
    .map(({ attempt, holder }) =>
      step('attempt', attempt.endedAt ?? attempt.startedAt, attemptWords(attempt), {
        id: attempt.id,
        state: attempt.result?.verdict ?? 'open',
        reason: attempt.result?.code ?? null,
        person: personOf(holder, delivery),
      }),
    );
  const made = intentId === undefined || delivery.intent.id === intentId ? digestSteps(delivery) : [];
  const taken = intentId === undefined ? [] : takenOverBy(intentId, delivery);
  return [...made, ...moves, ...attempts, ...taken].toSorted(byTime);
}

/** An intent that lost the slot is only stored by its id, so its person is unknown. */
const personOf = (intentId: string | null, { intent }: Delivery): string | null =>
  intentId === intent.id ? intent.person : null;

/** Returns the step that lists the items of a digest. */
function digestSteps({ id, intent, createdAt }: Delivery): TraceStep[] {
  if (!intent.digest) return [];
  const items = intent.digest.items.map(({ deliveryId }) => deliveryId);
  const text = `a digest of ${items.length === 1 ? 'one item' : `${items.length} items`}: ${items.join(', ')}`;
  return [step('delivery', createdAt, text, { id, person: intent.person })];
}

/** Returns the intent that held the slot at this time, because an attempt belongs to the holder of its time. */
function holderAt(time: Instant, { history, intent }: Delivery): string {
  return history.findLast(({ at }) => at <= time)?.intentId ?? history[0]?.intentId ?? intent.id;
}

/** Returns the step that another event took over the slot of an intent. Empty while the intent holds the slot. */
function takenOverBy(intentId: string, { id, history, intent }: Delivery): TraceStep[] {
  const last = history.findLastIndex((entry) => entry.intentId === intentId);
  const taker = last < 0 ? undefined : history[last + 1];
  if (!taker) return [];
  const who = taker.intentId === intent.id ? `event ${intent.eventId}` : 'another event';
  return [step('delivery', taker.at, `${who} took the slot over`, { id, reason: 'taken_over' })];
}

function attemptWords(attempt: Delivery['attempts'][number]): string {
  if (!attempt.result) return `call over ${attempt.account}, no answer known`;
  const took = (attempt.endedAt ?? attempt.startedAt) - attempt.startedAt;
  const { verdict, code, detail } = attempt.result;
  return `call over ${attempt.account}: ${verdict} ${code} ${detail}`.trimEnd() + ` (${took} ms)`;
}

/** Order of steps with equal times: an attempt precedes the moves it caused. */
const RANK: Partial<Record<TraceStep['step'], number>> = { attempt: 1, delivery: 2 };

export const byTime = (a: TraceStep, b: TraceStep): number =>
  (a.at ?? 0) - (b.at ?? 0) || (RANK[a.step] ?? 0) - (RANK[b.step] ?? 0);

/** Sorts steps by time. A step without a time stays after its predecessor. */
export function inOrder(steps: readonly TraceStep[]): readonly TraceStep[] {
  let time = 0;
  const timed = steps.map((each) => ({ each, time: (time = each.at ?? time) }));
  return timed.toSorted((a, b) => a.time - b.time).map(({ each }) => each);
}
