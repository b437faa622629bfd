import {
  ruleTitle,
  type Configuration,
  type DeadLetter,
  type Evaluation,
  type RuleTally,
  type SourceEvent,
} from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';
import { readSourceRecord } from '../append/source-record.ts';
import type { BatchResult, BatchStage, PartitionState, RecordFate } from '../batch-stage.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { judgeEvent, type Judgement } from './judge-event.ts';
import { intentRecord, triggerRecord } from './outputs.ts';
import type { RuleBook } from './rule-book.ts';

export type EvaluatePorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'intent' | 'trigger' | 'evaluation' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly book: RuleBook;
};

/**
 * Evaluate (flow table, stage 2): each event is judged by the newest marker before it in its own partition. Outputs are
 * intents, triggers where a partner has to name the recipients, dead letters of records that cannot be read, and one evaluation record for each run of one configuration
 * number; the ranges of a partition follow each other without gaps.
 */
export function createEvaluateStage(ports: EvaluatePorts): BatchStage {
  return {
    name: 'evaluate',
    async handle(records, state) {
      const batch = startBatch(ports, state);
      for (const record of records) {
        // A promise for each event would take as long as a rule.
        const waits = batch.take(record);
        if (waits) await waits;
      }
      return batch.end();
    },
  };
}

type Run = { from: number; to: number; configNumber: number; tally: Tally };
type Tally = { events: number; intents: number; triggers: number; deadLetters: number; rules: Map<string, RuleTally> };

const emptyTally = (): Tally => ({ events: 0, intents: 0, triggers: 0, deadLetters: 0, rules: new Map() });

function startBatch(ports: EvaluatePorts, before: PartitionState) {
  const { ids, codecs, log } = ports;
  const outputs: NewRecord[] = [];
  const fates: RecordFate[] = [];
  const runs: Run[] = [];
  let configNumber = before.configNumber;
  let current: { readonly number: number; readonly configuration: Configuration } | undefined;
  const clocks: Record<string, Instant> = { ...before.clocks };

  function runAt(offset: number): Run {
    const last = runs.at(-1);
    if (last && last.configNumber === configNumber) {
      last.to = offset + 1;
      return last;
    }
    const run: Run = { from: last ? last.to : offset, to: offset + 1, configNumber, tally: emptyTally() };
    runs.push(run);
    return run;
  }

  function park(record: LogRecord, reason: string, detail: string): void {
    const letter: DeadLetter = deadLetterOf('evaluate', record, reason, detail, ports);
    outputs.push(deadLetterRecord(letter, ports));
    runAt(record.offset).tally.deadLetters += 1;
    fates.push({ kind: 'parked', reason });
  }

  function judge(event: SourceEvent, configuration: Configuration): void {
    const run = runAt(event.position.offset);
    clocks[event.stream] = Math.max(clocks[event.stream] ?? 0, event.time);
    const judgements = judgeEvent(event, configuration, ports.book, ids.derive);
    run.tally.events += 1;
    for (const judgement of judgements) {
      count(run.tally, event, judgement);
      for (const intent of judgement.intents) outputs.push(intentRecord(intent, ports));
      for (const trigger of judgement.triggers) outputs.push(triggerRecord(trigger, ports));
    }
    const fired = judgements.some(({ outcome }) => outcome.kind === 'fired' || outcome.kind === 'asks');
    fates.push(fired ? { kind: 'done' } : { kind: 'dropped', reason: 'no_rule_fired' });
  }

  async function judgeByNext(event: SourceEvent, number: number): Promise<void> {
    const configuration = await ports.configuration.at(number);
    current = { number, configuration };
    judge(event, configuration);
  }

  return {
    /** Done when it returns, unless it gives a promise. */
    take(record: LogRecord): Promise<void> | undefined {
      const read = readSourceRecord(record, log.logId);
      if (!read.ok) {
        park(record, read.error.reason, read.error.detail);
        return undefined;
      }
      switch (read.value.kind) {
        case 'marker':
          // A smaller number than one already seen changes nothing.
          configNumber = Math.max(configNumber, read.value.configNumber);
          runAt(record.offset);
          fates.push({ kind: 'done' });
          return undefined;
        case 'tick':
          runAt(record.offset);
          fates.push({ kind: 'done' });
          return undefined;
        case 'event':
          if (current?.number !== configNumber) return judgeByNext(read.value.event, configNumber);
          judge(read.value.event, current.configuration);
          return undefined;
      }
    },
    end(): BatchResult {
      const at = ports.clock.now();
      for (const run of runs) outputs.push(evaluationRecord(run, before.partition, at, codecs));
      const ruleErrors = runs
        .flatMap((run) => [...run.tally.rules.values()])
        .reduce((sum, rule) => sum + rule.failed, 0);
      return { fates, outputs, ruleErrors, state: { partition: before.partition, configNumber, clocks } };
    },
  };
}

function count(tally: Tally, event: SourceEvent, { placed, outcome, intents, triggers }: Judgement): void {
  if (outcome.kind === 'disabled' || outcome.kind === 'not_fired') return;
  const key = `${placed.workspace}/${ruleTitle(placed)}@${placed.version}`;
  const before = tally.rules.get(key);
  const failed = outcome.kind === 'failed';
  const drops = failed ? [] : outcome.dropped;
  const dropped = drops.length;
  const dropError = drops.find((drop) => drop.reason === 'rule_error');
  const error = failed ? outcome.error : (dropError?.detail ?? null);
  tally.intents += intents.length;
  tally.triggers += triggers.length;
  tally.rules.set(key, {
    workspace: placed.workspace,
    rule: ruleTitle(placed),
    ruleVersion: placed.version,
    fired: (before?.fired ?? 0) + (failed ? 0 : 1),
    failed: (before?.failed ?? 0) + (failed ? 1 : 0),
    dropped: (before?.dropped ?? 0) + dropped,
    sampleEventId: before?.sampleEventId ?? (error === null ? null : event.id),
    sampleError: before?.sampleError ?? error,
  });
}

function evaluationRecord(
  run: Run,
  partition: number,
  at: Instant,
  codecs: Pick<RecordCodecs, 'evaluation'>,
): NewRecord {
  const evaluation: Evaluation = {
    partition,
    from: run.from,
    to: run.to,
    configNumber: run.configNumber,
    events: run.tally.events,
    intents: run.tally.intents,
    triggers: run.tally.triggers,
    late: 0,
    duplicates: 0,
    deadLetters: run.tally.deadLetters,
    rules: [...run.tally.rules.values()],
    at,
  };
  return {
    topic: 'carillon.evaluations',
    partition,
    key: String(partition),
    value: codecs.evaluation.encode(evaluation),
    headers: {},
  };
}
