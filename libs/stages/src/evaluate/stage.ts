import { ruleTitle, type Configuration } from '@carillon/domain/configuration';
import type { DeadLetter, Evaluation, RuleTally, SourceEvent } from '@carillon/domain/events';
import { countDropped } from '@carillon/domain/rules';
import { CarillonError, type Coroutine, type Instant } from '@carillon/kernel';
import type {
  BatchResult,
  BatchStage,
  Clock,
  ConfigurationView,
  DropCount,
  EventLog,
  Ids,
  EvaluationOutput,
  LogRecord,
  PartitionState,
  RecordCodecs,
  RecordFate,
  RuleStateStore,
  EventLoopSlice,
} from '@carillon/ports';
import { ENGINE_SEMANTICS, readSourceRecord } from '../append/source-record.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { dropsOfOutcome, sumDrops } from '../drop-counts.ts';
import { runYielding } from '../run-yielding.ts';
import { loadEntityStates, type EntityStates } from './entity-states.ts';
import { evaluateEventCoroutine, isSkippedByAll, type EvaluatedRule } from './evaluate-event.ts';
import type { RuleBook } from './rule-book.ts';

export type EvaluatePorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'save'>;
  readonly book: RuleBook;
};

/**
 * Turns of the event loop after which a batch ends with what it has. So the position is saved every tenth of a second,
 * whatever the events ask for, and a worker that dies repeats no more than that.
 */
const MAX_TURNS = 100;

/**
 * Evaluate (flow table, stage 2): each event is judged by the newest marker before it in its own partition. Outputs are
 * intents, triggers where a partner has to name the recipients, dead letters of records that cannot be read, and one
 * evaluation record for each range of one configuration number; the ranges of a partition follow each other without gaps.
 * A batch is read, what rules keep of its entities is loaded, then it is judged; rules without state load nothing.
 */
export function createEvaluateStage(ports: EvaluatePorts): BatchStage<EvaluationOutput> {
  return {
    name: 'evaluate',
    async handle(records, state) {
      let ended = 0;
      const slice: EventLoopSlice = {
        isExpired: () => ports.slice.isExpired(),
        yield: () => {
          ended += 1;
          return ports.slice.yield();
        },
      };
      const read = await readBatch(records, state, ports);
      const batch = startBatch({ ...ports, slice }, state, await loadStates(read, ports));
      for (const one of read) {
        // A promise for each event would take as long as a rule.
        const waits = batch.take(one);
        if (waits) await waits;
        if (ended >= MAX_TURNS) break;
        if (slice.isExpired()) await slice.yield();
      }
      return batch.end();
    },
  };
}

/** A record as it was read. `configuration`: by which it is judged, where it is an event. */
type ReadRecord = {
  readonly record: LogRecord;
  readonly source: ReturnType<typeof readSourceRecord>;
  /** The newest number of a marker, this one included. */
  readonly marked: number;
  readonly configuration: Configuration | null;
};

async function readBatch(
  records: readonly LogRecord[],
  { configNumber }: PartitionState,
  { log, configuration }: Pick<EvaluatePorts, 'log' | 'configuration'>,
): Promise<readonly ReadRecord[]> {
  const read: ReadRecord[] = [];
  let marked = configNumber;
  let current: { readonly number: number; readonly configuration: Configuration } | undefined;
  for (const record of records) {
    const source = readSourceRecord(record, log.logId);
    if (source.ok && source.value.kind === 'marker' && source.value.semantics > ENGINE_SEMANTICS) {
      // The records before it are evaluated first. Then the marker is the first of its batch.
      if (read.length > 0) break;
      throw outdated(source.value.semantics, record);
    }
    // A smaller number than one already seen changes nothing.
    if (source.ok && source.value.kind === 'marker') marked = Math.max(marked, source.value.configNumber);
    const isEvent = source.ok && source.value.kind === 'event';
    if (isEvent && current?.number !== marked)
      current = { number: marked, configuration: await configuration.at(marked) };
    read.push({ record, source, marked, configuration: isEvent ? (current?.configuration ?? null) : null });
  }
  return read;
}

const outdated = (semantics: number, { partition, offset }: LogRecord): CarillonError =>
  new CarillonError(
    'engine_outdated',
    `record ${offset} of carillon.events/${partition} asks for engine semantics ${semantics}, and this engine has ` +
      `${ENGINE_SEMANTICS}. Upgrade every engine to the newest release that runs here; docs/versions.md lists the releases`,
  );

/** What rules keep of the entities that the batch is about; null: no rule of its streams keeps anything. */
function loadStates(
  read: readonly ReadRecord[],
  { book, ruleStates, ids }: EvaluatePorts,
): Promise<EntityStates> | null {
  const events = read.flatMap(({ source, configuration }) => {
    if (!source.ok || source.value.kind !== 'event' || !configuration) return [];
    const { event } = source.value;
    return book.rulesOf(configuration, event.stream).some((one) => one.ok && one.rule.memory) ? [event] : [];
  });
  return events.length === 0 ? null : loadEntityStates(events, ruleStates, ids.derive, null);
}

/** What one evaluation record tells of: neighbouring records judged under one number. */
type EvaluatedRange = { from: number; to: number; configNumber: number; tally: Tally };
type Tally = {
  events: number;
  repeated: number;
  intents: number;
  triggers: number;
  deadLetters: number;
  rules: Map<string, RuleTally>;
};

const NO_RULE_FIRED: RecordFate = { kind: 'dropped', reason: 'no_rule_fired' };

const emptyTally = (): Tally => ({ events: 0, repeated: 0, intents: 0, triggers: 0, deadLetters: 0, rules: new Map() });

function startBatch(ports: EvaluatePorts, before: PartitionState, states: EntityStates | null) {
  const { ids } = ports;
  const outputs: EvaluationOutput[] = [];
  const fates: RecordFate[] = [];
  const ranges: EvaluatedRange[] = [];
  const dropped: DropCount[] = [];
  let configNumber = before.configNumber;
  let watermark: Instant = before.watermark;

  function rangeAt(offset: number): EvaluatedRange {
    const last = ranges.at(-1);
    if (last && last.configNumber === configNumber) {
      last.to = offset + 1;
      return last;
    }
    const range: EvaluatedRange = {
      from: last ? last.to : offset,
      to: offset + 1,
      configNumber,
      tally: emptyTally(),
    };
    ranges.push(range);
    return range;
  }

  function park(record: LogRecord, reason: string, detail: string): void {
    const letter: DeadLetter = deadLetterOf('evaluate', record, reason, detail, ports);
    outputs.push({ kind: 'record', record: deadLetterRecord(letter, ports) });
    rangeAt(record.offset).tally.deadLetters += 1;
    fates.push({ kind: 'parked', reason });
  }

  function tallyOf(event: SourceEvent): Tally {
    const { tally } = rangeAt(event.position.offset);
    tally.events += 1;
    return tally;
  }

  function* evaluate(event: SourceEvent, configuration: Configuration): Coroutine<void> {
    const tally = tallyOf(event);
    const evaluatedRules = yield* evaluateEventCoroutine(event, configuration, ports.book, ids.derive, {
      runId: null,
      states,
    });
    let fired = false;
    for (const evaluated of evaluatedRules) {
      const { outcome } = evaluated;
      // Most rules of most events: nothing is counted, named or made for them.
      if (outcome.kind === 'not_fired' || outcome.kind === 'disabled') continue;
      if (outcome.kind !== 'failed') fired = true;
      count(tally, event, evaluated);
      const { workspace } = evaluated.placed;
      dropped.push(...dropsOfOutcome({ workspace, rule: ruleTitle(evaluated.placed) }, outcome));
      for (const intent of evaluated.intents) outputs.push({ kind: 'intent', intent });
      for (const trigger of evaluated.triggers) outputs.push({ kind: 'trigger', trigger });
    }
    fates.push(fired ? { kind: 'done' } : NO_RULE_FIRED);
  }

  return {
    /** Done when it returns, unless it gives a promise. */
    take({ record, source, marked, configuration }: ReadRecord): Promise<void> | void {
      configNumber = marked;
      watermark = Math.max(watermark, record.time);
      if (!source.ok) return park(record, source.error.reason, source.error.detail);
      if (source.value.kind === 'event' && configuration) {
        const { event } = source.value;
        if (event.change === null || !isSkippedByAll(event.change, ports.book.rulesOf(configuration, event.stream))) {
          return runYielding(evaluate(event, configuration), ports.slice);
        }
        tallyOf(event);
        fates.push(NO_RULE_FIRED);
        return;
      }
      // Markers and ticks.
      rangeAt(record.offset);
      fates.push({ kind: 'done' });
    },
    end(): BatchResult<EvaluationOutput> {
      const at = ports.clock.now();
      for (const range of ranges)
        outputs.push({ kind: 'evaluation', evaluation: evaluationOf(range, before.partition, at) });
      const ruleErrors = ranges
        .flatMap((range) => [...range.tally.rules.values()])
        .reduce((sum, rule) => sum + rule.failed, 0);
      const state = { partition: before.partition, configNumber, watermark };
      return {
        fates,
        outputs,
        ruleErrors,
        dropped: sumDrops(dropped),
        ...(states && { save: () => states.save() }),
        state,
      };
    },
  };
}

function count(tally: Tally, event: SourceEvent, { placed, outcome, intents, triggers }: EvaluatedRule): void {
  if (outcome.kind === 'disabled' || outcome.kind === 'not_fired') return;
  const key = `${placed.workspace}/${ruleTitle(placed)}@${placed.version}`;
  const before = tally.rules.get(key);
  const failed = outcome.kind === 'failed';
  const drops = failed ? [] : outcome.dropped;
  // What `where` leaves out is meant to be.
  const lost = drops.find(({ reason }) => reason !== 'where_false');
  const error = failed ? outcome.error : (lost?.detail ?? null);
  tally.intents += intents.length;
  tally.triggers += triggers.length;
  tally.rules.set(key, {
    workspace: placed.workspace,
    rule: ruleTitle(placed),
    ruleVersion: placed.version,
    fired: (before?.fired ?? 0) + (failed ? 0 : 1),
    failed: (before?.failed ?? 0) + (failed ? 1 : 0),
    dropped: (before?.dropped ?? 0) + countDropped(drops),
    waitsStarted: 0,
    waitsCancelled: 0,
    inCooldown: 0,
    firedByDeadline: 0,
    sampleEventId: before?.sampleEventId ?? (error === null ? null : event.id),
    sampleError: before?.sampleError ?? error,
  });
}

const evaluationOf = (
  { tally, from, to, configNumber }: EvaluatedRange,
  partition: number,
  at: Instant,
): Evaluation => ({
  partition,
  from,
  to,
  configNumber,
  events: tally.events,
  repeated: tally.repeated,
  intents: tally.intents,
  triggers: tally.triggers,
  late: 0,
  duplicates: 0,
  deadLetters: tally.deadLetters,
  rules: [...tally.rules.values()],
  at,
});
