import { CarillonError } from '@carillon/kernel';
import {
  isErased,
  type BatchStage,
  type Checkpoint,
  type CheckpointStore,
  type Consumption,
  type DecisionCount,
  type DropCount,
  type EventLog,
  type LogRecord,
  type OutputSink,
  type PartitionState,
  type PartitionWorker,
  type TopicName,
} from '@carillon/ports';
import type { Progress } from './progress.ts';

export type BatchBegun = {
  readonly stage: string;
  readonly group: string;
  readonly topic: TopicName;
  readonly partition: number;
  readonly records: readonly LogRecord[];
};
export type BatchEnded = {
  readonly fates: Readonly<Record<string, number>>;
  readonly ruleErrors: number;
  /** Drops by rules. One rule and reason may occur more than once. */
  readonly dropped: readonly DropCount[];
  /** Decisions of rules with state. One rule and decision may be there more than once. */
  readonly decided: readonly DecisionCount[];
  /**
   * Records between the saved position and the end of the partition at the last read. Null if another process has the
   * partition now.
   */
  readonly lag: number | null;
};

/** Events of a stage's interpreter, bound to metrics, traces and logs by the app. */
export type ConsumerWatch = {
  /** Called once before anything of this group is read, so that its counters start at zero and are there from the start. */
  consumes(consumer: { readonly group: string; readonly topic: TopicName; readonly stage: string }): void;
  /** Called before a batch is handed to its stage; the answer is called once, with what came of it. */
  begun(batch: BatchBegun): (ended: BatchEnded | { readonly error: unknown }) => void;
  failed(report: { readonly group: string; readonly partition: number; readonly error: unknown }): void;
  /**
   * Called when a partition stops until a person acts. The returned function is called when this process gives the
   * partition up.
   */
  stopped(report: { readonly group: string; readonly topic: TopicName; readonly partition: number }): () => void;
  /** Called when this process gives a partition up, so that its measurements no longer apply. */
  left(report: { readonly group: string; readonly topic: TopicName; readonly partition: number }): void;
  /** The log no longer holds records that this group had not read. */
  skipped(report: { readonly group: string; readonly partition: number; readonly records: number }): void;
};

export type StageConsumerOptions<Output> = {
  readonly group: string;
  readonly topic: TopicName;
  /**
   * Stage that processes the batches. It handles at least the first record, unless `hasMore` says that it has more to
   * do before. Records that it leaves out are passed again.
   */
  readonly stage: BatchStage<Output>;
  /** Where its outputs go. */
  readonly sink: OutputSink<Output>;
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly watch: ConsumerWatch;
  /** Kept up to date: the partitions that this consumer has now. */
  readonly held?: Set<number>;
  /** Kept up to date: how far this consumer has come. */
  readonly progress?: Progress;
  readonly maxRecords?: number;
  readonly maxBytes?: number;
  /** Bytes of input that the stage is handed at once: small where a little input asks for much. */
  readonly handleBytes?: number;
  /** Waited for after each batch that left less than another one behind it, so that what comes meanwhile is one batch. */
  readonly rest?: () => Promise<unknown>;
};

const MAX_RECORDS = 500;

/**
 * The interpreter of stages: passes a batch to the stage, writes its outputs, and then saves the checkpoint (promise 3:
 * outputs before state, state before position). A crash in between repeats the batch. A refused checkpoint means that
 * another process has the partition: the worker ends and a new one starts from the stored position.
 */
export function startStageConsumer<Output>(options: StageConsumerOptions<Output>): Promise<Consumption> {
  const { group, topic, log, watch } = options;
  watch.consumes({ group, topic, stage: options.stage.name });
  const newest: NewestAssignments = new Map();
  return log.consume({
    group,
    topic,
    maxRecords: options.maxRecords ?? MAX_RECORDS,
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
    assigned: (partition) => beginPartition(options, partition, newest),
    failed: (partition, error) => watch.failed({ group, partition, error }),
    stopped: (partition) => watch.stopped({ group, topic, partition }),
  });
}

/**
 * The newest assignment of each partition. If a store replies late, an earlier assignment may begin or end after the newest.
 * The earlier assignment must then leave the reported progress alone.
 */
type NewestAssignments = Map<number, symbol>;

async function beginPartition<Output>(
  options: StageConsumerOptions<Output>,
  partition: number,
  newest: NewestAssignments,
): Promise<PartitionWorker> {
  const { group, topic, log, checkpoints, watch } = options;
  const assignment = Symbol('assignment');
  newest.set(partition, assignment);
  const isNewest = (): boolean => newest.get(partition) === assignment;
  const stored = await checkpoints.load(group, topic, partition);
  const bounds = await log.bounds(topic, partition);
  if (stored) refuseForeign(stored, log, bounds.end);
  if (stored && stored.next < bounds.start) {
    watch.skipped({ group, partition, records: bounds.start - stored.next });
  }
  let state: PartitionState = {
    partition,
    configNumber: stored?.configNumber ?? -1,
    watermark: stored?.watermark ?? 0,
  };
  let assigned = true;

  const furtherOn = (): CarillonError =>
    new CarillonError('wrong_state', `another worker of ${group} has already read further in ${topic}/${partition}`);

  async function savePosition(next: number, { watermark, configNumber }: PartitionState): Promise<void> {
    const saved = await checkpoints.save({ group, topic, partition, logId: log.logId, next, watermark, configNumber });
    if (saved === 'refused') throw furtherOn();
    if (assigned && isNewest()) options.progress?.reached(partition, next);
  }

  /** Outputs, then state, then position: in this order, whatever happens in between. */
  async function handleBatch(records: readonly LogRecord[]): Promise<Done> {
    const result = await options.stage.handle(records, state);
    const last = records[result.fates.length - 1];
    if (!last && !result.hasMore)
      throw new CarillonError('internal', `the stage ${options.stage.name} took none of its records`);
    const took = result.fates.length;
    if (!assigned) return { ...NOTHING_DONE, took };
    await options.sink.write(result.outputs);
    if (result.save && (await result.save()) === 'refused') throw furtherOn();
    if (last) await savePosition(last.offset + 1, result.state);
    state = result.state;
    const { ruleErrors = 0, dropped = [], decided = [] } = result;
    return { fates: countFates(result.fates), ruleErrors, dropped, decided, took };
  }

  /** Hands over the records before the next erased one. Drops a run of erased ones, of which a derived topic has nothing to read. */
  async function handleReadable(records: readonly LogRecord[]): Promise<Done> {
    if (topic === 'carillon.events') return handleBatch(records);
    const erased = records.findIndex(isErased);
    if (erased === -1) return handleBatch(records);
    if (erased > 0) return handleBatch(records.slice(0, erased));
    const readable = records.findIndex((record) => !isErased(record));
    const run = readable === -1 ? records : records.slice(0, readable);
    const last = run.at(-1);
    if (last) await savePosition(last.offset + 1, state);
    return { ...NOTHING_DONE, fates: { dropped: run.length }, took: run.length };
  }

  const from = Math.max(stored?.next ?? 0, bounds.start);
  if (isNewest()) {
    options.held?.add(partition);
    options.progress?.reached(partition, from);
    options.progress?.sawEnd(partition, bounds.end);
  }
  return {
    from,
    async handle(records, end) {
      const last = records.at(-1);
      if (!last) return;
      if (assigned && isNewest()) options.progress?.sawEnd(partition, end());
      let lag: number;
      const ended = watch.begun({ stage: options.stage.name, group, topic, partition, records });
      try {
        let done = NOTHING_DONE;
        // One large event may need many outputs, so a few events at a time keep memory bounded.
        for (const slice of slicesOf(records, options.handleBytes ?? HANDLE_BYTES)) {
          for (let at = 0; at < slice.length && assigned;) {
            const some = await handleReadable(slice.slice(at));
            done = sumOf(done, some);
            at += some.took;
          }
        }
        const newestEnd = end();
        lag = Math.max(0, newestEnd - last.offset - 1);
        if (assigned && isNewest()) options.progress?.sawEnd(partition, newestEnd);
        const { fates, ruleErrors, dropped, decided } = done;
        ended({ fates, ruleErrors, dropped, decided, lag: assigned ? lag : null });
      } catch (error) {
        ended({ error });
        throw error;
      }
      if (options.rest && assigned && lag < (options.maxRecords ?? MAX_RECORDS)) await options.rest();
    },
    async lost() {
      assigned = false;
      if (!isNewest()) return;
      options.held?.delete(partition);
      options.progress?.left(partition);
      watch.left({ group, topic, partition });
    },
  };
}

const REMEDY = 'restore log and stores from one backup, or start with an empty data folder';

/** Never a silent rewind: positions of another log, or beyond this one's end, need a person (architecture section 4). */
function refuseForeign(stored: Checkpoint, log: EventLog, end: number): void {
  const where = `the checkpoint of ${stored.group} in ${stored.topic}/${stored.partition}`;
  if (stored.logId !== log.logId) {
    throw new CarillonError('wrong_log', `${where} belongs to log ${stored.logId}, this is ${log.logId}; ${REMEDY}`);
  }
  if (stored.next > end) {
    throw new CarillonError(
      'wrong_log',
      `${where} is ${stored.next}, but the log ends at ${end}: was it restored? ${REMEDY}`,
    );
  }
}

/** Input that a stage is handed at once. */
const HANDLE_BYTES = 512 * 1024;

/** Splits records into runs of at most `maxBytes`, or of one larger record, in order. */
function slicesOf<Item extends { readonly value: Uint8Array }>(items: readonly Item[], maxBytes: number): Item[][] {
  const slices: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (bytes + item.value.length > maxBytes) {
      slices.push([]);
      bytes = 0;
    }
    slices.at(-1)?.push(item);
    bytes += item.value.length;
  }
  return slices;
}

type Done = Omit<BatchEnded, 'lag'> & { readonly took: number };
const NOTHING_DONE: Done = { fates: {}, ruleErrors: 0, dropped: [], decided: [], took: 0 };

const sumOf = (a: Done, b: Done): Done => ({
  fates: sumOfCounts(a.fates, b.fates),
  ruleErrors: a.ruleErrors + b.ruleErrors,
  dropped: [...a.dropped, ...b.dropped],
  decided: [...a.decided, ...b.decided],
  took: a.took + b.took,
});

type Counts = Readonly<Record<string, number>>;

function sumOfCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

function countFates(fates: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of fates) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
