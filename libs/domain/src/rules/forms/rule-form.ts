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

/** A pending decision of one rule about one entity. */
export type Deadline = {
  /** The instant at which the rule decides. */
  readonly deadline: Instant;
  /**
   * The wait ends at the first record with a later watermark. Never before deadline plus grace, or before the watermark
   * at which the wait was set.
   */
  readonly due: Instant;
};

/** Effect of a record on a rule. Each form of the rule may change the effect, in the order of the forms. */
export type RuleEffect = {
  readonly fires: boolean;
  /** Deadline by which the rule fires. Null: it fires at a match. */
  readonly deadline: Instant | null;
  /** The wait after the record. If it differs from the previous wait, the message will be made from this event. */
  readonly wait: Deadline | null;
  /** Error of an expression of a form. Null: none. */
  readonly error: string | null;
};

/** Bytes left for events and samples in the memory of an entity. */
export type Room = {
  /** Reserves bytes. Returns false, and reserves none, if too few are left. A negative number releases bytes. */
  take(bytes: number): boolean;
};

/** An event of the entity, before the rule's `when` is evaluated. */
export type Arrival = {
  readonly kind: 'event';
  readonly event: SourceEvent;
  /** Event time that counts for totals, deadlines and cooldowns. */
  readonly at: Instant;
  /** Zone of the rule's workspace. */
  readonly timeZone: string;
  /** How late an event may come, if `at` is its own time. Null: `at` is the time of the append. */
  readonly grace: Duration | null;
  readonly room: Room;
  /** Evaluates an expression of the form for the event, within the steps of the rule. */
  evaluate(expression: Expression): Evaluated;
};

/** Occasion at which a form computes its values: an event, or a deadline that has passed. */
export type Moment = Arrival | (PassedDeadline & Pick<Arrival, 'timeZone'>);

/** Names that a form adds for the expressions of the rule, and the value that it stores. */
export type Prepared<Kept> = {
  /** Value that the form stores for the entity from now on. The given value if nothing changes. */
  readonly kept: Kept | undefined;
  readonly totals: ShownTotals;
  /** Why the form left the event out. Null if it did not. */
  readonly error: string | null;
  /** The event was left out because the memory of the entity is full. */
  readonly isTooLarge: boolean;
};

/** An event of the entity after the evaluation of `when`, as forms see it. */
export type Match = {
  readonly kind: 'event';
  readonly event: SourceEvent;
  /** The time that counts for deadlines and cooldowns. */
  readonly at: Instant;
  /** How much later than a deadline its wait ends, if `at` is the event's own time. Null: `at` is the time of the append. */
  readonly grace: Duration | null;
  readonly watermark: Instant;
  /** Result of `when` for the event. Null if `when` ended in an error. */
  readonly holds: boolean | null;
  /** The pending wait before the event. Null if nothing waits. */
  readonly wait: Deadline | null;
  /** Counted time of the event that started the pending wait. Null if nothing waits. */
  readonly waitsFrom: Instant | null;
  /** Evaluates an expression of the form for the event, within the steps of the rule. */
  evaluate(expression: Expression): Evaluated;
};

/** A wait whose deadline the watermark has passed. `at` is the deadline. */
export type PassedDeadline = { readonly kind: 'deadline'; readonly at: Instant };

export type Occasion = Match | PassedDeadline;

export type FormStep<Kept> = {
  /** Value that the form stores for the entity from now on. The given value if nothing changes. */
  readonly kept: Kept | undefined;
  readonly effect: RuleEffect;
  /** The decision of the form, for people, if it made one. */
  readonly decision?: JsonObject;
};

/** A form of one rule, with its expressions compiled. */
export type CompiledForm<Kept = Json> = {
  readonly name: string;
  /** Compiled expressions, each with its key in the rule. */
  readonly expressions: readonly (readonly [key: string, expression: Expression])[];
  /** Runs before `when` is evaluated, and adds names for the expressions of the rule. */
  prepare?(kept: Kept | undefined, moment: Moment): Prepared<Kept>;
  step(kept: Kept | undefined, occasion: Occasion, effect: RuleEffect): FormStep<Kept>;
  /** Returns the requirement on an event of a sample beyond `when` alone, in fields of the event. Left out if there is none. */
  sampleRequirement?(when: Expression): Requirement;
  /** Returns what the form stores once the rule has fired. `at` is the event's time or the deadline. */
  fired?(kept: Kept | undefined, at: Instant): Kept | undefined;
};

/** Effects of an edit on the state of a rule, as sentences that are shown before the edit is published. */
export type EditWords = {
  /** What happens to existing waits. Empty if they go on as before. */
  readonly waits: readonly string[];
  /** Effects on everything else that the form stores for entities. */
  readonly kept: readonly string[];
};

/** Gate of `why-not` at which a decision of a form stops a message. */
export type BlockingGate = 'condition' | 'unless' | 'deadline';

/**
 * A way in which a rule looks at more than one event, such as a wait. A form has keys in the rule, steps, and sentences
 * for its decisions. Each form is a folder here, a shape in `shapes/src/rule-forms`, a line in `RULE_FORMS` and a
 * section of a docs page such as `docs/waiting.md`.
 */
export type RuleForm<Kept = Json> = {
  readonly name: string;
  /** Keys of a rule that the form owns. */
  readonly keys: readonly (keyof RuleBody)[];
  /** Compiles the form of a rule. Returns null if the rule has none of the form's keys. */
  compile(body: RuleBody, language: ExpressionCompiler): Result<CompiledForm<Kept> | null, readonly RuleFault[]>;
  /** Returns a decision of the form as sentences. */
  words(decision: JsonObject): readonly string[];
  /** Returns what the form stores for an entity as sentences, without the wait. */
  keptWords(kept: Kept): readonly string[];
  /** Returns an upper bound for the bytes of the stored value. Absent if they are few. */
  bytes?(kept: Kept): number;
  /** Gates that a message of a rule with this form passes after its condition. */
  readonly gates: readonly Exclude<BlockingGate, 'condition'>[];
  /**
   * Returns the gate at which a decision stops the message of its event. Null if it stops none, such as at the start of
   * a wait.
   */
  gateOf(decision: JsonObject): BlockingGate | null;
  /** When a rule fires that `events` alike events make match, such as "1h later". Null: the form says nothing of it. */
  sentence(body: RuleBody, events: number): string | null;
  /**
   * Returns the effects of an edit on the state of a rule, which stays on its stream. One of the two bodies may have no
   * key of the form.
   */
  editWords(before: RuleBody, after: RuleBody): EditWords;
  /** `match`, and events like it that may have to come before it so that the rule fires. */
  sampleEvents(body: RuleBody, match: JsonObject): readonly JsonObject[];
};
