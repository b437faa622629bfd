import { ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import type { DeadLetter, SourceEvent } from '@carillon/domain/events';
import { NOT_FIRED } from '@carillon/domain/rules';
import type {
  BatchResult,
  Clock,
  DropCount,
  EvaluationOutput,
  EventLog,
  Ids,
  LogRecord,
  RecordCodecs,
  RecordFate,
} from '@carillon/ports';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { dropsOfOutcome, sumDrops } from '../drop-counts.ts';
import type { EvaluatedRule } from './evaluate-event.ts';
import { countRule, EvaluationRanges, type Tally } from './evaluation-ranges.ts';

export type OutputPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Called with each rule that fires, fails, or decides by its state, and the event from which its message is made. */
  readonly onEvaluated?: ((event: SourceEvent, evaluated: EvaluatedRule) => void) | undefined;
};

/** Collects the results of a batch: a fate per record, outputs, and the counts of its evaluation records. */
export class BatchOutputs {
  readonly #ports: OutputPorts;
  readonly #outputs: EvaluationOutput[] = [];
  readonly #dropped: DropCount[] = [];
  readonly fates: RecordFate[] = [];
  readonly ranges: EvaluationRanges;

  constructor(partition: number, ports: OutputPorts) {
    this.#ports = ports;
    this.ranges = new EvaluationRanges(partition);
  }

  park(record: LogRecord, configNumber: number, reason: string, detail: string): void {
    const letter: DeadLetter = deadLetterOf('evaluate', record, reason, detail, this.#ports);
    this.#outputs.push({ kind: 'record', record: deadLetterRecord(letter, this.#ports) });
    this.ranges.at(record.offset, configNumber).deadLetters += 1;
    this.fates.push({ kind: 'parked', reason });
  }

  /** Adds the result of a rule. Returns true if the rule fired. */
  take(tally: Tally, event: SourceEvent, evaluated: EvaluatedRule): boolean {
    const { outcome, placed, intents, triggers } = evaluated;
    countRule(tally, event.id, evaluated);
    this.#ports.onEvaluated?.(event, evaluated);
    this.#dropped.push(...dropsOfOutcome({ workspace: placed.workspace, rule: ruleTitle(placed) }, outcome));
    for (const intent of intents) this.#outputs.push({ kind: 'intent', intent });
    for (const trigger of triggers) this.#outputs.push({ kind: 'trigger', trigger });
    return outcome.kind === 'fired' || outcome.kind === 'asks';
  }

  /** Counts a wait that ended because its entity was forgotten. */
  countForgotten(tally: Tally, placed: PlacedRule): void {
    countRule(tally, null, {
      placed,
      triggerId: null,
      outcome: NOT_FIRED,
      intents: [],
      triggers: [],
      effect: 'wait_cancelled',
    });
  }

  end(): Omit<BatchResult<EvaluationOutput>, 'state' | 'save'> {
    const { ruleErrors, decided } = this.ranges;
    for (const evaluation of this.ranges.evaluations(this.#ports.clock.now())) {
      this.#outputs.push({ kind: 'evaluation', evaluation });
    }
    const dropped = sumDrops(this.#dropped);
    return { fates: this.fates, outputs: this.#outputs, ruleErrors, dropped, ...(decided.length > 0 && { decided }) };
  }
}
