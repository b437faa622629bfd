import type { Duration, Instant, Json, JsonObject, Result } from '@carillon/kernel';
import type { RuleBody } from '../../configuration/resources.ts';
import type { SourceEvent } from '../../events/source-event.ts';
import type { Evaluated, Expression, ExpressionFault, ExpressionPlace } from '../expression.ts';
import type { Requirement } from '../requirement.ts';
import type { ShownTotals } from './totals/shown-totals.ts';

/** A fault with the field of the rule that has it: `when`, `recipients.to.email`. */
export type RuleFault = ExpressionFault & { readonly field: string };

/** Checks and compiles expressions. */
export type ExpressionCompiler = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
};

/** A decision that one rule has pending for one entity. */
export type Deadline = {
  /** The instant at which the rule decides. */
  readonly deadline: Instant;
  /** The wait ends at the first record whose watermark is later. Never before deadline and grace, or the watermark at which it was set. */
  readonly due: Instant;
};

/** What a record does to a rule. Each form of the rule may change it, in the order of the forms. */
export type RuleEffect = {
  readonly fires: boolean;
  /** Deadline by which the rule fires. Null: it fires at a match. */
  readonly deadline: Instant | null;
  /** The wait after the record. A value other than the wait before makes the message from this event. */
  readonly wait: Deadline | null;
  /** Error of an expression of a form. Null: none. */
  readonly error: string | null;
};

/** Bytes that an entity's memory has left for events and samples. */
export type Room = {
  /** Takes bytes. Returns false, and takes none, if too few are left. A negative number gives bytes back. */
  take(bytes: number): boolean;
};

/** An event of the entity, before the rule's `when` is evaluated. */
export type Arrival = {
  readonly kind: 'event';
  readonly event: SourceEvent;
  /** The time that counts for totals, deadlines and cooldowns. */
  readonly at: Instant;
  /** Zone of the rule's workspace. */
  readonly timeZone: string;
  /** How late an event may come, if `at` is its own time. Null: `at` is the time of the append. */
  readonly grace: Duration | null;
  readonly room: Room;
  /** Evaluates an expression of the form for the event, within the steps of the rule. */
  evaluate(expression: Expression): Evaluated;
};

/** When values of a form are asked for: at an event, or at a deadline that has passed. */
export type Moment = Arrival | (PassedDeadline & Pick<Arrival, 'timeZone'>);

/** What a form adds to the names that the expressions of the rule see. */
export type Prepared<Kept> = {
  /** Value that the form keeps of the entity from now on. The given value if it stays as it is. */
  readonly kept: Kept | undefined;
  readonly totals: ShownTotals;
  /** Why the form left the event out. Null: it did not. */
  readonly error: string | null;
  /** The event was left out because the memory of the entity is full. */
  readonly isTooLarge: boolean;
};

/** An event of the entity, as forms see it. */
export type Match = {
  readonly kind: 'event';
  readonly event: SourceEvent;
  /** The time that counts for deadlines and cooldowns. */
  readonly at: Instant;
  /** How much later than a deadline its wait ends, if `at` is the event's own time. Null: `at` is the time of the append. */
  readonly grace: Duration | null;
  readonly watermark: Instant;
  /** What `when` says of the event. Null: it ended in an error. */
  readonly holds: boolean | null;
  /** The wait before the event. */
  readonly wait: Deadline | null;
  /** The time that counts of the event of that wait. Null: nothing waits. */
  readonly waitsFrom: Instant | null;
  /** Evaluates an expression of the form for the event, within the steps of the rule. */
  evaluate(expression: Expression): Evaluated;
};

/** A wait whose deadline the watermark has passed. `at` is the deadline. */
export type PassedDeadline = { readonly kind: 'deadline'; readonly at: Instant };

export type Occasion = Match | PassedDeadline;

export type FormStep<Kept> = {
  /** Value that the form keeps of the entity from now on. The given value if it stays as it is. */
  readonly kept: Kept | undefined;
  readonly effect: RuleEffect;
  /** The decision of the form, for people, if it made one. */
  readonly decision?: JsonObject;
};

/** A form of one rule, with its expressions compiled. */
export type CompiledForm<Kept = Json> = {
  readonly name: string;
  /** Its expressions, each with the key that has it. */
  readonly expressions: readonly (readonly [key: string, expression: Expression])[];
  /** Runs before `when` is evaluated, and gives names to the expressions of the rule. */
  prepare?(kept: Kept | undefined, moment: Moment): Prepared<Kept>;
  step(kept: Kept | undefined, occasion: Occasion, effect: RuleEffect): FormStep<Kept>;
  /** Returns the requirement on an event of a sample beyond `when` alone, in fields of the event. Left out if there is none. */
  sampleRequirement?(when: Expression): Requirement;
  /** What the form keeps once the rule has fired. `at`: the event's time, or the deadline. */
  fired?(kept: Kept | undefined, at: Instant): Kept | undefined;
};

/** Effects of an edit on the state of a rule, as sentences that are shown before the edit is published. */
export type EditWords = {
  /** What happens to existing waits. Empty if they go on as before. */
  readonly waits: readonly string[];
  /** What happens to the rest that the form keeps of entities. */
  readonly kept: readonly string[];
};

/** Gate of `why-not` at which a decision of a form stops a message. */
export type DecisionGate = 'condition' | 'unless' | 'deadline';

/**
 * A way in which a rule looks at more than one event: its keys, its steps, and the sentences of its decisions. A form is a folder here,
 * a shape in `shapes/src/rule-forms`, one line in `RULE_FORMS` and a section in a page of `docs` such as `docs/waiting.md`.
 */
export type RuleForm<Kept = Json> = {
  readonly name: string;
  /** Keys of a rule that the form owns. */
  readonly keys: readonly (keyof RuleBody)[];
  /** Null: the rule has none of the keys. */
  compile(body: RuleBody, language: ExpressionCompiler): Result<CompiledForm<Kept> | null, readonly RuleFault[]>;
  /** Sentences that say a decision of the form. */
  words(decision: JsonObject): readonly string[];
  /** Sentences that say what the form keeps of an entity, beside the wait. */
  keptWords(kept: Kept): readonly string[];
  /** Upper bound of the bytes of what the form keeps. Left out if they are few. */
  bytes?(kept: Kept): number;
  /** Gates that a message of a rule with this form passes after its condition. */
  readonly gates: readonly Exclude<DecisionGate, 'condition'>[];
  /** Gate at which a decision of the form stops the message of its event. Null: it does not, as when a wait begins. */
  gateOf(decision: JsonObject): DecisionGate | null;
  /** When a rule fires that `events` alike events make match, such as "1h later". Null: the form says nothing of it. */
  sentence(body: RuleBody, events: number): string | null;
  /** What an edit does to the state of the rule, which stays on its stream. One of the two bodies may have no key of the form. */
  editWords(before: RuleBody, after: RuleBody): EditWords;
  /** `match`, and events like it that may have to come before it so that the rule fires. */
  sampleEvents(body: RuleBody, match: JsonObject): readonly JsonObject[];
};
