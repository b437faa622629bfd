import type { SourceEvent } from '@carillon/domain/events';
import type { Instant, LogId } from '@carillon/kernel';
import type {
  ConfigurationView,
  EventLoopSlice,
  LogRecord,
  RecordCodecs,
  RuleState,
  RuleStateStore,
} from '@carillon/ports';
import type { Clock, Ids } from '@carillon/ports';
import type { EvaluatedRule } from '../evaluate/evaluate-event.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';
import { createEvaluateStage } from '../evaluate/stage.ts';

const TOPIC = 'carillon.events';
/** Bytes of records that one step evaluates, because the outputs of a step are held in memory. */
const MAX_STEP_BYTES = 256 * 1024;

/** How far a pass has come in a partition. */
export type PassPosition = {
  readonly partition: number;
  /** Offset to read next. */
  readonly next: number;
  readonly watermark: Instant;
  /** Newest configuration number that a marker of the partition named; -1 before any. */
  readonly configNumber: number;
};

/** A rule that fired, failed or decided by its state. The event is the one that its message is made from. */
export type PassedRule = { readonly event: SourceEvent; readonly evaluated: EvaluatedRule };

/** The result of one step. The caller stores states and position in one commit. */
export type PassStep = {
  readonly position: PassPosition;
  readonly states: readonly RuleState[];
  readonly rules: readonly PassedRule[];
  /** False if the pass has more to do with these records. Then they are given again. */
  readonly isDone: boolean;
};

export type StatePassPorts = {
  /** Names the states, which are not those of the live run. */
  readonly runId: string;
  readonly store: Pick<RuleStateStore, 'load' | 'due' | 'earliestDue'>;
  readonly book: RuleBook;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly deadLetters: RecordCodecs['deadLetter'];
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly log: { readonly logId: LogId; readonly partitions: () => number };
};

export type StatePass = {
  /** Evaluates records from `position` on, or a part of them. */
  take(records: readonly LogRecord[], position: PassPosition): Promise<PassStep>;
};

/**
 * Evaluates records of past events as the engine does, with states of its own. It appends nothing, and saves nothing by itself. Each
 * partition is read in order.
 */
export function createStatePass({ store, deadLetters, runId, ...ports }: StatePassPorts): StatePass {
  let saved: RuleState[] = [];
  let rules: PassedRule[] = [];
  let cache: { readonly partition: number; readonly value: object | undefined } | null = null;
  const stage = createEvaluateStage({
    ...ports,
    // States and position are in one commit, so that no state is ahead of the log.
    log: { ...ports.log, bounds: async () => ({ start: 0, end: Number.POSITIVE_INFINITY }) },
    runId,
    codecs: { deadLetter: deadLetters },
    onEvaluated: (event, evaluated) => void rules.push({ event, evaluated }),
    ruleStates: {
      ...store,
      async save(states) {
        for (const state of states) saved.push(state);
        return states.map(() => 'done');
      },
    },
  });
  return {
    async take(records, position) {
      const { partition, next } = position;
      const left = records.filter(({ offset }) => offset >= next);
      const some = prefixOf(left);
      if (some.length === 0) return { position, states: [], rules: [], isDone: true };
      saved = [];
      rules = [];
      const before = cache?.partition === partition && cache.value ? { cache: cache.value } : {};
      const { fates, save, state } = await stage.handle(some, { ...position, ...before });
      await save?.();
      cache = { partition, value: state.cache };
      const last = left[fates.length - 1];
      const reached = left[fates.length]?.offset ?? (last ? last.offset + 1 : next);
      const { watermark, configNumber } = state;
      return {
        position: { partition, next: reached, watermark, configNumber },
        states: saved,
        rules,
        isDone: fates.length === left.length,
      };
    },
  };
}

/** Returns as many records as one step evaluates, at least one. */
function prefixOf(records: readonly LogRecord[]): readonly LogRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ value }) => (bytes += value.length) > MAX_STEP_BYTES);
  return end === -1 ? records : records.slice(0, Math.max(1, end));
}

/** Returns a record that only moves the watermark to `time`. */
export const tickAt = (partition: number, offset: number, time: Instant): LogRecord => ({
  topic: TOPIC,
  partition,
  offset,
  time,
  key: '',
  headers: { kind: 'tick' },
  value: new Uint8Array(),
});

/**
 * Replaces records for which `isRelevant` is false by ticks, one for each row of neighbouring records. A tick changes when a wait fires,
 * never whether.
 */
export function quietRecords(
  records: readonly LogRecord[],
  isRelevant: (record: LogRecord) => boolean,
): readonly LogRecord[] {
  const kept: LogRecord[] = [];
  let isTick = false;
  for (const record of records) {
    if (isRelevant(record)) {
      kept.push(record);
      isTick = false;
      continue;
    }
    const time = isTick ? Math.max(record.time, kept.pop()?.time ?? 0) : record.time;
    kept.push(tickAt(record.partition, record.offset, time));
    isTick = true;
  }
  return kept;
}
