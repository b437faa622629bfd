import { workspacesOf, type Configuration } from '@carillon/domain/configuration';
import type { Position, SourceEvent } from '@carillon/domain/events';
import { CarillonError, type Coroutine, type Instant } from '@carillon/kernel';
import type {
  BatchResult,
  BatchStage,
  Clock,
  ConfigurationView,
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
import { entityOf, forgetEntity, type Entity } from '@carillon/domain/rules';
import { ENGINE_SEMANTICS, readSourceRecord, type Forget } from '../append/source-record.ts';
import { runYielding } from '../run-yielding.ts';
import { BatchOutputs, type OutputPorts } from './batch-outputs.ts';
import { MAX_PASSED } from './due-queue.ts';
import { evaluateEventCoroutine, isSkippedByAll, keepsState, lateRules } from './evaluate-event.ts';
import { countLate, type Tally } from './evaluation-ranges.ts';
import { isKeyed } from './entity-states.ts';
import { loadStates, type LoadedStates } from './loaded-states.ts';
import { passDue } from './pass-due.ts';
import type { RuleBook } from './rule-book.ts';
import { StateCache } from './state-cache.ts';

export type EvaluatePorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'bounds'>;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'save' | 'due' | 'earliestDue'>;
  readonly book: RuleBook;
  /** Run whose states are loaded and saved. Defaults to the live run. */
  readonly runId?: string;
} & Pick<OutputPorts, 'onEvaluated'>;

/**
 * Maximum turns of the event loop per batch, about a tenth of a second. The position is saved after each batch, so a
 * crashed worker repeats no more than that.
 */
const MAX_TURNS = 100;

/**
 * Evaluates events (flow table, stage 2), each by the newest configuration marker before it in its partition. Outputs
 * are intents, triggers if a partner has to name the recipients, dead letters of unreadable records, and one evaluation
 * record per range of one configuration number. The ranges of a partition follow each other without gaps. The stage
 * loads the states of a batch's entities and of those whose waits are due, then evaluates its records. Before each
 * record it ends the waits that are due by its watermark. Rules without state load no states.
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
      await dropFormerWorkspaces(state, ports);
      const batch = startBatch({ ...ports, slice }, state, await loadBatch(read, state, ports));
      const isOver = (): boolean => ended >= MAX_TURNS;
      for (const next of read) {
        if (batch.hasDue(next) && !(await batch.passDue(next, isOver))) break;
        // `take` returns a promise only if it has to wait. A promise for each event would cost as much as a rule.
        const waits = batch.take(next);
        if (waits) await waits;
        if (isOver()) break;
        if (slice.isExpired()) await slice.yield();
      }
      return batch.end();
    },
  };
}

/** A record as read from the log, with the configuration by which its event is evaluated or its entity forgotten. */
type ReadRecord = {
  readonly record: LogRecord;
  readonly source: ReturnType<typeof readSourceRecord>;
  /** The newest configuration number of the markers so far, including this record. */
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
      // The records before the marker are evaluated first. The next batch then begins with the marker.
      if (read.length > 0) break;
      throw outdated(source.value.semantics, record);
    }
    // A marker with a lower number than an earlier marker changes nothing.
    if (source.ok && source.value.kind === 'marker') marked = Math.max(marked, source.value.configNumber);
    const isEvaluated = source.ok && (source.value.kind === 'event' || source.value.kind === 'forget');
    if (isEvaluated && current?.number !== marked)
      current = { number: marked, configuration: await configuration.at(marked) };
    read.push({ record, source, marked, configuration: isEvaluated ? (current?.configuration ?? null) : null });
  }
  return read;
}

/**
 * Drops the states of removed workspaces, so that a workspace created again under the same name starts without them.
 */
async function dropFormerWorkspaces(
  { cache, configNumber }: PartitionState,
  { configuration }: Pick<EvaluatePorts, 'configuration'>,
): Promise<void> {
  if (!(cache instanceof StateCache) || cache.configNumber === configNumber) return;
  cache.keepWorkspaces(configNumber, workspacesOf(await configuration.at(configNumber)));
}

const outdated = (semantics: number, { partition, offset }: LogRecord): CarillonError =>
  new CarillonError(
    'engine_outdated',
    `record ${offset} of carillon.events/${partition} asks for engine semantics ${semantics}, and this engine has ` +
      `${ENGINE_SEMANTICS}. Upgrade every engine to the newest release that runs here; docs/versions.md lists the releases`,
  );

const NO_RULE_FIRED: RecordFate = { kind: 'dropped', reason: 'no_rule_fired' };

function loadBatch(read: readonly ReadRecord[], state: PartitionState, ports: EvaluatePorts): Promise<LoadedStates> {
  const entities = read.flatMap(({ source, configuration }): readonly Entity[] => {
    const entity = entityOfRecord(source);
    if (!source.ok || !entity || !configuration) return [];
    const isLoaded = source.value.kind === 'forget' || keepsState(ports.book.rulesOf(configuration, entity.stream));
    return isLoaded ? [entity] : [];
  });
  const end = read.reduce((newest, { record }) => Math.max(newest, record.time), state.watermark);
  const last = read.at(-1)?.record.offset ?? 0;
  return loadStates(entities, { end, last }, state, ports);
}

/** Returns the entity that a record concerns, or null. */
function entityOfRecord(source: ReadRecord['source']): Entity | null {
  if (!source.ok) return null;
  if (source.value.kind === 'forget') return source.value.entity;
  return source.value.kind === 'event' && isKeyed(source.value.event) ? entityOf(source.value.event) : null;
}

function startBatch(ports: EvaluatePorts, before: PartitionState, loaded: LoadedStates) {
  const { ids, book, slice, log } = ports;
  const { partition } = before;
  const { states, queue, cache } = loaded;
  const outputs = new BatchOutputs(partition, ports);
  const { fates, ranges } = outputs;
  let { configNumber, watermark }: { configNumber: number; watermark: Instant } = before;
  let passedEntities = 0;
  let hasMore = false;
  const watermarkAt = (record: LogRecord): Instant => Math.max(watermark, record.time);

  function tallyOf(event: SourceEvent): Tally {
    const tally = ranges.at(event.position.offset, configNumber);
    tally.events += 1;
    return tally;
  }

  function* evaluate(event: SourceEvent, configuration: Configuration): Coroutine<void> {
    const tally = tallyOf(event);
    const { repeated } = states;
    const run = { runId: null, states, watermark };
    const evaluatedRules = yield* evaluateEventCoroutine(event, configuration, book, ids.derive, run);
    tally.repeated += states.repeated - repeated;
    const late = lateRules(event, book.rulesOf(configuration, event.stream), watermark);
    if (late.length > 0) countLate(tally, late);
    let fired = false;
    for (const evaluated of evaluatedRules) {
      const { outcome, effect } = evaluated;
      // Most rules do nothing for most events, so they are skipped here without counting, naming or making anything.
      if ((outcome.kind === 'not_fired' || outcome.kind === 'disabled') && effect === undefined) continue;
      if (outputs.take(tally, event, evaluated)) fired = true;
    }
    fates.push(fired ? { kind: 'done' } : NO_RULE_FIRED);
  }

  function forget({ entity, position }: Forget, configuration: Configuration): void {
    const id = states.idOf(entity);
    const memory = states.memoryOf(id);
    if (!memory) return;
    const tally = ranges.at(position.offset, configNumber);
    if (memory.appliedOffset >= position.offset) tally.repeated += 1;
    const forgotten = forgetEntity(memory, { position, watermark }, book.rulesOf(configuration, entity.stream));
    if (!forgotten) return;
    states.putMemory(id, forgotten.memory);
    for (const placed of forgotten.waited) outputs.countForgotten(tally, placed);
  }

  return {
    /** Returns true if waits may be due at the record. */
    hasDue({ record }: ReadRecord): boolean {
      // After a move to this deployment, states exist before the first configuration. No wait can end then.
      if (configNumber < 0) return false;
      const newWatermark = watermarkAt(record);
      return queue.hasDue(newWatermark) || queue.mayHaveMore(newWatermark);
    },
    /**
     * Ends the waits that are due at a record, by the configuration before the record. Returns false if the commit is
     * full; the record is then left to the next commit. The record's own entity is passed last, in the commit that
     * takes the record. The store compares states by record, so it would keep a state that was saved between the two.
     */
    async passDue({ record, source }: ReadRecord, isOver: () => boolean): Promise<boolean> {
      const newWatermark = watermarkAt(record);
      const entity = entityOfRecord(source);
      const own = entity === null ? undefined : states.idOf(entity);
      const position: Position = { logId: log.logId, topic: record.topic, partition, offset: record.offset };
      const configuration = await ports.configuration.at(configNumber);
      const passing = { position, watermark: newWatermark, configuration, configNumber };
      const pass = async (id = ''): Promise<void> => {
        const work = passDue(id, passing, { states, outputs, book, derive: ids.derive });
        if (await runYielding(work, slice)) passedEntities += 1;
      };
      while (queue.hasDue(newWatermark, own)) {
        hasMore = passedEntities > 0 && (passedEntities >= MAX_PASSED || isOver());
        if (hasMore) return false;
        await pass(queue.take(own));
      }
      hasMore = queue.mayHaveMore(newWatermark);
      if (hasMore) return false;
      while (queue.hasDue(newWatermark)) await pass(queue.take());
      return true;
    },
    /** Processes a record. Done when it returns, unless it returns a promise. */
    take({ record, source, marked, configuration }: ReadRecord): Promise<void> | void {
      configNumber = marked;
      watermark = watermarkAt(record);
      if (!source.ok) return outputs.park(record, configNumber, source.error.reason, source.error.detail);
      if (source.value.kind === 'event' && configuration) {
        const { event } = source.value;
        if (event.change === null || !isSkippedByAll(event.change, book.rulesOf(configuration, event.stream))) {
          return runYielding(evaluate(event, configuration), slice);
        }
        tallyOf(event);
        fates.push(NO_RULE_FIRED);
        return;
      }
      if (source.value.kind === 'forget' && configuration) forget(source.value, configuration);
      // Markers, ticks, erased events and forgotten entities only belong to a range.
      ranges.at(record.offset, configNumber);
      fates.push({ kind: 'done' });
    },
    end(): BatchResult<EvaluationOutput> {
      cache.earliestDue = loaded.earliestDue();
      return {
        ...outputs.end(),
        ...(hasMore && { hasMore }),
        ...(states.hasChanges && { save: () => states.save() }),
        state: { partition, configNumber, watermark, cache },
      };
    },
  };
}
