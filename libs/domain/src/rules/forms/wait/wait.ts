import { DEFAULTS, WAIT_BOUNDS } from '@carillon/shapes/values';
import {
  durationOr,
  err,
  formatDuration,
  formatInstant,
  isJsonObject,
  ok,
  parseInstant,
  type Duration,
  type Instant,
  type Json,
  type JsonObject,
} from '@carillon/kernel';
import type { RuleBody } from '../../../configuration/resources.ts';
import type { Expression, ExpressionPlace, FieldReference } from '../../expression.ts';
import type { CompiledForm, Deadline, FormStep, Match, RuleEffect, RuleFault, RuleForm } from '../rule-form.ts';

/** State of a wait that is stored per entity, besides the pending deadline. */
export type KeptWait = {
  /** The newest deadline of `at` that was decided. It does not fire again. */
  readonly decided?: Instant;
  /** The newest event time at which `unless` was true. Kept on streams with a `time` path. */
  readonly unless?: Instant;
};

const NAME = 'wait';
const KEYS = ['after', 'after_last', 'at', 'unless', 'if_past'] as const;
/** Returns true if the rule decides at a deadline. */
export const waits = ({ after, after_last: afterLast, at }: RuleBody): boolean =>
  after !== undefined || afterLast !== undefined || at !== undefined;

const LONGEST: Duration = durationOr(WAIT_BOUNDS.longest, 0);

/** Rule form that decides at a deadline, unless an event of the entity comes before for which `unless` is true. */
export const WAIT: RuleForm<KeptWait> = {
  name: NAME,
  keys: KEYS,
  compile(body, language) {
    const faults: RuleFault[] = [];
    const read = (key: 'at' | 'unless', place: ExpressionPlace): Expression | null => {
      const source = body[key];
      if (source === undefined) return null;
      const compiled = language.compile(source, place);
      if (compiled.ok) return compiled.value;
      faults.push(...compiled.error.map((fault) => ({ field: key, ...fault })));
      return null;
    };
    const at = read('at', 'at');
    const unless = read('unless', 'unless');
    if (faults.length > 0) return err(faults);
    const span = durationOr(body.after ?? body.after_last, 0);
    const moves = body.after === undefined;
    const notifiesIfPast = (body.if_past ?? DEFAULTS.rule.if_past) === 'notify';
    return ok(at === null && span === 0 ? null : compiledWait({ at, unless, span, moves, notifiesIfPast }));
  },
  words({ kind, deadline, by, at, late }) {
    const time = typeof deadline === 'number' ? formatInstant(deadline) : '';
    switch (typeof kind === 'string' ? kind : '') {
      case 'waits':
        return [
          `waits until ${time}`,
          ...(typeof late === 'number' ? [`the event came ${formatDuration(late)} after its time`] : []),
        ];
      case 'cancelled':
        return [by === 'unless' ? 'wait cancelled: `unless` is true' : 'wait cancelled: `at` is null or missing'];
      case 'no_deadline':
        return ['starts no wait: `at` is null or missing'];
      case 'unless':
        return [
          typeof at === 'number'
            ? `starts no wait: \`unless\` was true at ${formatInstant(at)}, and the event is not newer`
            : 'starts no wait: `unless` is true',
        ];
      case 'deadline_past':
        return [`deadline_past: the deadline ${time} was past already`];
      default:
        return [];
    }
  },
  keptWords: ({ decided, unless }) => [
    ...(decided === undefined ? [] : [`has decided the deadline ${formatInstant(decided)}`]),
    ...(unless === undefined ? [] : [`\`unless\` was true at ${formatInstant(unless)}`]),
  ],
  gates: ['unless', 'deadline'],
  gateOf({ kind }) {
    if (kind === 'cancelled' || kind === 'unless') return 'unless';
    return kind === 'no_deadline' || kind === 'deadline_past' ? 'deadline' : null;
  },
  sentence(body) {
    const unless = body.unless === undefined ? '' : `, unless ${body.unless}`;
    if (body.after !== undefined) return `${body.after} after the first such event${unless}`;
    if (body.after_last !== undefined) return `${body.after_last} after the last such event${unless}`;
    return body.at === undefined ? null : `at ${body.at}${unless}`;
  },
  editWords: (before, after) => ({ waits: waits(before) ? editedWaits(before, after) : [], kept: [] }),
  sampleEvents: (_body, match) => [match],
};

/** What an edit does to existing waits. Empty if they go on as before. */
function editedWaits(before: RuleBody, after: RuleBody): readonly string[] {
  if (!waits(after)) return ['existing waits keep their deadline; nothing cancels them any more'];
  const isDeadlineEdited = (['when', 'after', 'after_last', 'at'] as const).some((key) => before[key] !== after[key]);
  return [
    ...(isDeadlineEdited ? ['existing waits keep their deadline'] : []),
    ...(before.unless === after.unless
      ? []
      : [after.unless === undefined ? 'nothing cancels them any more' : 'the new `unless` counts for them']),
  ];
}

type WaitParts = {
  readonly at: Expression | null;
  readonly unless: Expression | null;
  /** Length of `after` or `after_last`. */
  readonly span: Duration;
  /** True if a further match moves the deadline. False with `after`. */
  readonly moves: boolean;
  readonly notifiesIfPast: boolean;
};

function compiledWait(parts: WaitParts): CompiledForm<KeptWait> {
  const { at, unless } = parts;
  return {
    name: NAME,
    expressions: [
      ...(at === null ? [] : [['at', at] as const]),
      ...(unless === null ? [] : [['unless', unless] as const]),
    ],
    step(kept, occasion, effect) {
      if (occasion.kind === 'deadline') return { kept: at === null ? kept : { ...kept, decided: occasion.at }, effect };
      const keepsUnless = unless !== null && occasion.grace !== null;
      if (occasion.wait === null && !effect.fires && !keepsUnless) return { kept, effect };
      return stepAtEvent(parts, kept, occasion, effect);
    },
  };
}

/** Applies the first row of the table of waits in docs/waiting.md that fits the event. */
function stepAtEvent(
  parts: WaitParts,
  keptBefore: KeptWait | undefined,
  match: Match,
  effect: RuleEffect,
): FormStep<KeptWait> {
  const { wait } = match;
  const unless = evaluateUnless(parts.unless, match);
  const idle: RuleEffect = { ...effect, fires: false, error: unless.error ?? effect.error };
  const kept = unless.holds ? withUnless(keptBefore, match) : keptBefore;
  if (wait === null && !effect.fires) return { kept, effect };
  if (unless.holds) {
    if (wait !== null && match.at <= wait.deadline) {
      return { kept, effect: { ...idle, wait: null }, decision: { kind: 'cancelled', by: 'unless' } };
    }
    return { kept, effect: idle, ...(effect.fires && { decision: { kind: 'unless' } }) };
  }
  if (!effect.fires) return { kept, effect: idle };
  const older = olderThan(kept, match);
  if (older) return { kept, effect: idle, ...(older.decision && { decision: older.decision }) };
  const found = deadlineOf(parts, match);
  if (typeof found === 'string') return { kept, effect: { ...idle, error: found } };
  if (found === null) {
    const decision = wait === null ? { kind: 'no_deadline' } : { kind: 'cancelled', by: 'at' };
    return { kept, effect: { ...idle, wait: null }, decision };
  }
  const { deadline } = found;
  const isDecided = kept?.decided === deadline;
  if (parts.at === null || (deadline >= match.at && !isDecided)) {
    return { kept, effect: { ...idle, wait: found }, decision: { kind: 'waits', deadline, ...lateness(match) } };
  }
  if (parts.notifiesIfPast && !isDecided) {
    return { kept: { ...kept, decided: deadline }, effect: { ...effect, wait: null, deadline } };
  }
  return { kept, effect: { ...idle, wait: null }, decision: { kind: 'deadline_past', deadline } };
}

/**
 * Returns the state with the newest event time at which `unless` was true. Only streams with a `time` path need this
 * time.
 */
const withUnless = (kept: KeptWait | undefined, { at, grace }: Match): KeptWait | undefined =>
  grace === null || (kept?.unless ?? -Infinity) >= at ? kept : { ...kept, unless: at };

/** Returns by how much a match came late, if by more than the grace period. Otherwise returns an empty object. */
const lateness = ({ at, grace, watermark }: Match): { readonly late?: Duration } =>
  grace !== null && watermark - at > grace ? { late: watermark - at } : {};

/**
 * Returns a match that comes out of order, on a stream with a `time` path: it is no newer than an event for which
 * `unless` was true, or older than the event of the wait. Such a match changes no wait. Null if the match counts.
 */
function olderThan(
  kept: KeptWait | undefined,
  { at, grace, wait, waitsFrom }: Match,
): { readonly decision: FormStep<KeptWait>['decision'] } | null {
  if (grace === null) return null;
  if (kept?.unless !== undefined && at <= kept.unless) {
    return { decision: wait === null ? { kind: 'unless', at: kept.unless } : undefined };
  }
  return waitsFrom !== null && at < waitsFrom ? { decision: undefined } : null;
}

/**
 * Returns the wait that this match starts or moves. Null if `at` is null or names a missing field. A text is an error.
 */
function deadlineOf(parts: WaitParts, match: Match): Deadline | null | string {
  const { wait, watermark, grace } = match;
  if (wait !== null && !parts.moves) return { ...wait };
  const deadline = parts.at === null ? match.at + parts.span : instantOf(parts.at, match);
  if (typeof deadline !== 'number') return deadline;
  if (deadline - match.at > LONGEST) return `at is more than ${WAIT_BOUNDS.longest} ahead`;
  return { deadline, due: Math.max(deadline + (grace ?? 0), watermark) };
}

function instantOf(at: Expression, match: Match): Instant | null | string {
  const result = match.evaluate(at);
  if (!result.ok) {
    const isKnown = result.reason === undefined;
    return isKnown && at.fields.some((field) => isMissing(field, match.event.body)) ? null : `at: ${result.error}`;
  }
  if (result.value === null) return null;
  const instant = typeof result.value === 'string' ? parseInstant(result.value) : undefined;
  return instant ?? 'at is no time (RFC 3339, with its zone)';
}

/** Returns true if a field of the event is null or not there. A path whose steps are not all written out is not looked up. */
function isMissing({ root, steps, dynamic }: FieldReference, body: JsonObject): boolean {
  if (root !== 'event' || dynamic || steps.includes(null)) return false;
  let value: Json | undefined = body;
  for (const step of steps) {
    if (Array.isArray(value) && typeof step === 'number') value = (value as readonly Json[])[step];
    else value = isJsonObject(value) && Object.hasOwn(value, String(step)) ? value[String(step)] : undefined;
  }
  return value === undefined || value === null;
}

function evaluateUnless(
  unless: Expression | null,
  match: Match,
): { readonly holds: boolean; readonly error: string | null } {
  if (unless === null) return { holds: false, error: null };
  const result = match.evaluate(unless);
  if (!result.ok) return { holds: false, error: `unless: ${result.error}` };
  if (typeof result.value === 'boolean') return { holds: result.value, error: null };
  return { holds: false, error: 'unless is not true or false' };
}
