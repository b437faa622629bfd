import { UNTIL_FALSE } from '@carillon/shapes/values';
import { formatDuration, formatInstant, ok, parseDuration, type Duration, type Instant } from '@carillon/kernel';
import type { RuleBody } from '../../../configuration/resources.ts';
import type { CompiledForm, FormStep, Occasion, RuleEffect, RuleForm } from '../rule-form.ts';

/** State of a cooldown rule that is stored per entity. */
export type KeptCooldown = {
  /** `when` was true at the entity's previous event. Left out if it was false. */
  readonly matched?: true;
  /** When the rule last fired: time of the event, or deadline. */
  readonly firedAt?: Instant;
};

const NAME = 'cooldown';

/** Rule form that limits how often a rule fires for one entity. */
export const COOLDOWN: RuleForm<KeptCooldown> = {
  name: NAME,
  keys: ['cooldown'],
  compile({ cooldown }) {
    if (cooldown === undefined) return ok(null);
    if (cooldown === UNTIL_FALSE) return ok(untilFalse);
    const span = parseDuration(cooldown);
    return ok(span.ok ? since(span.value) : null);
  },
  words({ fired_at: firedAt, at }) {
    if (typeof firedAt !== 'number' || typeof at !== 'number') return ['in cooldown: the previous event matched too'];
    return [`in cooldown: fired ${formatDuration(Math.max(0, at - firedAt))} before, at ${formatInstant(firedAt)}`];
  },
  keptWords: ({ matched, firedAt }) => [
    ...(firedAt === undefined ? [] : [`fired last at ${formatInstant(firedAt)}`]),
    ...(matched === true ? ['matched the newest event'] : []),
  ],
  gates: [],
  gateOf: () => 'condition',
  sentence: ({ cooldown }) =>
    cooldown === undefined
      ? null
      : cooldown === UNTIL_FALSE
        ? 'not again until the condition has been false'
        : `not again within ${cooldown}`,
  editWords: ({ cooldown: before }, { cooldown: after }) => ({
    waits: [],
    kept: before === after ? [] : [edited(before, after)],
  }),
  sampleEvents: (_body, match) => [match],
};

type Written = RuleBody['cooldown'];
const isSpan = (cooldown: Written): boolean => cooldown !== undefined && cooldown !== UNTIL_FALSE;

function edited(before: Written, after: Written): string {
  if (after === undefined) return 'the cooldown ends';
  if (isSpan(before) && isSpan(after)) return 'the new cooldown counts from the last firing';
  return isSpan(after)
    ? 'the cooldown begins at the next firing'
    : 'the cooldown begins at the next match, which fires';
}

const MATCHED: KeptCooldown = { matched: true };

/** A match only counts if `when` was false at the previous event. An event with an error in `when` does not count. */
const untilFalse: CompiledForm<KeptCooldown> = {
  name: NAME,
  expressions: [],
  step(kept, occasion, effect) {
    if (occasion.kind === 'deadline' || occasion.holds === null) return { kept, effect };
    const { holds, wait } = occasion;
    const after = holds ? (kept?.matched === true ? kept : MATCHED) : undefined;
    const starts = wait === null && (effect.fires || effect.wait !== null);
    if (!starts || kept?.matched !== true) return { kept: after, effect };
    return suppressed(after, effect, {});
  },
};

const since = (span: Duration): CompiledForm<KeptCooldown> => ({
  name: NAME,
  expressions: [],
  step(kept, { at }, effect) {
    const firedAt = kept?.firedAt;
    if (!effect.fires || firedAt === undefined || at - firedAt >= span) return { kept, effect };
    return suppressed(kept, effect, { fired_at: firedAt, at });
  },
  fired: (_kept, at) => ({ firedAt: at }),
});

const suppressed = (
  kept: KeptCooldown | undefined,
  effect: RuleEffect,
  facts: { readonly fired_at?: Instant; readonly at?: Occasion['at'] },
): FormStep<KeptCooldown> => ({
  kept,
  effect: { ...effect, fires: false, deadline: null, wait: null },
  decision: { kind: 'in_cooldown', ...facts },
});
