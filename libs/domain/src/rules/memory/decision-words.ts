import { formatInstant, stringifyJson, type Instant, type JsonObject } from '@carillon/kernel';
import { readTotals, RULE_FORMS, totalWords, type BlockingGate, type ShownTotals } from '../forms/index.ts';
import type { Decision, RuleMemory } from './entity-memory.ts';

/** Returns the sentences of a decision. A form that this version does not know has its facts as JSON. */
export const decisionWords = ({ form, saw }: Pick<Decision, 'form' | 'saw'>): readonly string[] => [
  ...(form === null
    ? [ruleWords(saw)]
    : (RULE_FORMS.find(({ name }) => name === form)?.words(saw) ?? [stringifyJson(saw)])),
  ...totalWords(totalsOf({ saw })),
  ...(typeof saw['left_out'] === 'string' ? [saw['left_out']] : []),
];

/** Returns the totals that a decision saw. Empty: the rule has none. */
export const totalsOf = ({ saw }: Pick<Decision, 'saw'>): ShownTotals => readTotals(saw['totals']);

/** Returns the memory of one rule as sentences. */
export const memoryWords = ({ wait, kept = {} }: RuleMemory): readonly string[] => [
  ...(wait ? [`waits until ${formatInstant(wait.deadline)}`] : []),
  ...Object.entries(kept).flatMap(
    ([name, value]) => RULE_FORMS.find((form) => form.name === name)?.keptWords(value) ?? [stringifyJson(value)],
  ),
];

/** Returns the gate of `why-not` at which a decision stops the message of its event. Null: it does not stop it. */
export function gateOfDecision({ form, saw }: Pick<Decision, 'form' | 'saw'>): BlockingGate | 'rule' | null {
  if (form !== null) return RULE_FORMS.find(({ name }) => name === form)?.gateOf(saw) ?? null;
  const { kind } = saw;
  if (kind === 'failed') return 'condition';
  return kind === 'disabled' || kind === 'rule_withdrawn' ? 'rule' : null;
}

/** Returns true if the rule fired by this decision. */
export const isFiring = ({ form, saw }: Pick<Decision, 'form' | 'saw'>): boolean =>
  form === null && saw['kind'] === 'fired';

/** Returns the deadline that a decision names. Null: it names none. */
export const deadlineOf = ({ saw: { deadline } }: Pick<Decision, 'saw'>): Instant | null =>
  typeof deadline === 'number' ? deadline : null;

function ruleWords({ kind, deadline, error }: JsonObject): string {
  const at = typeof deadline === 'number' ? formatInstant(deadline) : null;
  switch (typeof kind === 'string' ? kind : '') {
    case 'fired':
      return at === null ? 'fired' : `fired by its deadline ${at}`;
    case 'failed':
      return `failed: ${typeof error === 'string' ? error : ''}`;
    case 'disabled':
      return `disabled: the rule was disabled at its deadline${at === null ? '' : ` ${at}`}`;
    case 'rule_withdrawn':
      return 'rule_withdrawn: the rule was removed or moved to another stream while it waited';
    case 'erased':
      return 'erased: what it saw was erased with a person';
    default:
      return '';
  }
}
