import { err, ok, type JsonObject, type Result } from '@carillon/kernel';
import type { RuleBody } from '../../configuration/resources.ts';
import { COOLDOWN } from './cooldown/cooldown.ts';
import type { CompiledForm, BlockingGate, EditWords, ExpressionCompiler, RuleFault, RuleForm } from './rule-form.ts';
import { TOTALS } from './totals/totals.ts';
import { WAIT } from './wait/wait.ts';

export * from './totals/shown-totals.ts';
export { TOTAL_KINDS } from './totals/totals.ts';
export { waits } from './wait/wait.ts';

export * from './rule-form.ts';

/** Hides the type of a form's stored value, which only the form itself reads. */
const sealed = <Kept>(form: RuleForm<Kept>): RuleForm => form as unknown as RuleForm;

/** All forms of rules with state, in the order in which they decide. The cooldown decides last. */
export const RULE_FORMS: readonly RuleForm[] = [sealed(TOTALS), sealed(WAIT), sealed(COOLDOWN)];

/** Returns an upper bound for the bytes of the values that the forms of one rule store. */
export const bytesOfKept = (kept: JsonObject): number =>
  RULE_FORMS.reduce((sum, form) => {
    const own = Object.hasOwn(kept, form.name) ? kept[form.name] : undefined;
    return own === undefined ? sum : sum + (form.bytes?.(own) ?? 0);
  }, 0);

/** Returns the forms that a rule uses, by its keys. */
export const ruleFormsOf = (body: RuleBody): readonly RuleForm[] =>
  RULE_FORMS.filter(({ keys }) => keys.some((key) => body[key] !== undefined));

/** Returns the gates that a message of a rule passes after its condition, because of the forms that the rule has. */
export const gatesOfForms = (body: RuleBody): readonly BlockingGate[] =>
  ruleFormsOf(body).flatMap(({ gates }) => gates);

/** When a rule fires that `events` alike events make match, such as "1h after the first such event". Null: at the event itself. */
export function firingSentence(body: RuleBody, events = 1): string | null {
  const sentences = ruleFormsOf(body).flatMap((form) => form.sentence(body, events) ?? []);
  return sentences.length === 0 ? null : sentences.join('; ');
}

/** Returns what an edit of a rule does to its state. The rule stays on its stream. */
export function editWordsOf(before: RuleBody, after: RuleBody): EditWords {
  const words = RULE_FORMS.map((form) => form.editWords(before, after));
  return { waits: words.flatMap(({ waits: each }) => each), kept: words.flatMap(({ kept }) => kept) };
}

/** `match`, and events like it that may have to come before it so that the rule fires: those of the form that needs most. */
export const sampleEventsOf = (body: RuleBody, match: JsonObject): readonly JsonObject[] =>
  ruleFormsOf(body)
    .map((form) => form.sampleEvents(body, match))
    .reduce((most, events) => (events.length > most.length ? events : most), [match]);

/** Compiles the forms that a rule has, or returns all faults of their expressions. */
export function compileForms(
  body: RuleBody,
  language: ExpressionCompiler,
): Result<readonly CompiledForm[], readonly RuleFault[]> {
  const forms: CompiledForm[] = [];
  const faults: RuleFault[] = [];
  for (const form of RULE_FORMS) {
    const compiled = form.compile(body, language);
    if (!compiled.ok) faults.push(...compiled.error);
    else if (compiled.value !== null) forms.push(compiled.value);
  }
  return faults.length > 0 ? err(faults) : ok(forms);
}
