import type { EventId, RunId } from '@carillon/kernel';

/**
 * How an output on the log differs from the result of evaluating its event again. - `missing`: the result has it, and
 * the log does not. - `no_cause`: the log has it, and the result does not. - `different`: both have it, and a field
 * differs.
 */
export const PROBLEMS = ['missing', 'no_cause', 'different'] as const;
export type Problem = (typeof PROBLEMS)[number];

/** Kinds of outputs of an evaluation: messages, and questions to partners. */
export const OUTPUTS = ['intent', 'trigger'] as const;
export type OutputKind = (typeof OUTPUTS)[number];

/** An output that a verification found wrong. It holds positions, ids and names of fields, and no personal data. */
export type Finding = {
  readonly problem: Problem;
  readonly output: OutputKind;
  /** Id of the intent or the trigger. */
  readonly id: string;
  /** The first field that differs, as the record's schema names it. Null unless `different`. */
  readonly field: string | null;
  /** `notification.rule` */
  readonly rule: string;
  readonly eventId: EventId;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly eventPosition: string;
  /** Position of the output. Null if it is missing. */
  readonly position: string | null;
};

/** A finding of a run. Findings are numbered in the order in which they were found. */
export type RunFinding = Finding & { readonly run: RunId; readonly number: number };

/** What a verification counts. */
export type VerifyCounts = {
  /** Events that were evaluated again. */
  readonly events: number;
  /** Outputs that are as the log gives them. */
  readonly same: number;
  readonly problems: Readonly<Record<Problem, number>>;
  /** Events before the first marker of their partition, so that nothing says by which configuration they were evaluated. */
  readonly unknownConfiguration: number;
  /** Events whose marker has other evaluation semantics: another release may have evaluated them. */
  readonly otherSemantics: number;
  /** Records that the engine had not evaluated when the run began. */
  readonly notEvaluated: number;
  /** Events that cannot be parsed, or that the engine parked as dead letters. */
  readonly unreadable: number;
  /** Events and outputs that retention has removed, or about which removed records would have to say something. */
  readonly pastRetention: number;
  /** Outputs of test sends and of jobs that send missing messages. No event alone gives them. */
  readonly notFromEvents: number;
  /** Waits that no record of the range ends. Runs of earlier releases lack it. */
  readonly wouldWait?: number;
  /** Outputs of rules with state that are not compared, because earlier events of their entities were not read. Runs of earlier releases lack it. */
  readonly cold?: number;
};

export const NO_VERIFY_COUNTS: VerifyCounts = {
  events: 0,
  same: 0,
  problems: { missing: 0, no_cause: 0, different: 0 },
  unknownConfiguration: 0,
  otherSemantics: 0,
  notEvaluated: 0,
  unreadable: 0,
  pastRetention: 0,
  notFromEvents: 0,
};
