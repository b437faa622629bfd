import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogId } from '@carillon/kernel';
import type {
  BatchStage,
  CheckpointStore,
  Consumption,
  EventLog,
  LogRecord,
  NewRecord,
  PartitionState,
} from '@carillon/ports';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { createRecordSink, startStageConsumer, type BatchEnded, type StageConsumerOptions } from '../src/index.ts';

let topology: Topology;
let consumption: Consumption | undefined;
const failures: string[] = [];
const skipped: number[] = [];
const left: number[] = [];
const ended: (BatchEnded | { readonly error: unknown })[] = [];

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  for (const list of [failures, skipped, left, ended]) list.length = 0;
});
afterEach(async () => {
  await consumption?.stop();
  consumption = undefined;
  await topology.close();
});

const record = (text: string): NewRecord => ({
  topic: 'carillon.triggers',
  partition: 0,
  key: 'k',
  value: new TextEncoder().encode(text),
  headers: {},
});
const append = (...texts: readonly string[]) => topology.data.log.append(texts.map(record));
const textOf = ({ value }: LogRecord): string => Buffer.from(value).toString();

/** Passes each record on to another topic, and counts in its state what it saw. */
function passingOn(
  seen: string[],
  during: (records: readonly LogRecord[]) => Promise<void> = async () => undefined,
): BatchStage {
  return {
    name: 'pass-on',
    async handle(records, state) {
      seen.push(...records.map((one) => `${one.offset}:${textOf(one)}`));
      await during(records);
      const outputs = records.map((one) => ({ ...record(`out ${textOf(one)}`), topic: 'carillon.outcomes' as const }));
      const carried: PartitionState = {
        ...state,
        configNumber: state.configNumber + records.length,
        watermark: records.length,
      };
      return { fates: records.map(() => ({ kind: 'done' })), outputs, state: carried };
    },
  };
}
type Ports = Partial<Pick<StageConsumerOptions<NewRecord>, 'log' | 'checkpoints' | 'maxRecords' | 'rest'>>;
async function start(
  stage: BatchStage,
  { log = topology.data.log, checkpoints = topology.data.checkpoints, ...more }: Ports = {},
) {
  consumption = await startStageConsumer({
    group: 'g',
    topic: 'carillon.triggers',
    stage,
    sink: createRecordSink(log),
    log,
    checkpoints,
    ...more,
    watch: {
      consumes: () => undefined,
      stopped: () => () => undefined,
      begun: () => (end) => void ended.push(end),
      failed: ({ error }) => void failures.push(error instanceof Error ? error.message : String(error)),
      left: ({ partition }) => void left.push(partition),
      skipped: ({ records }) => void skipped.push(records),
    },
  });
}
const stored = () => topology.data.checkpoints.load('g', 'carillon.triggers', 0);
const reached = (next: number) =>
  untilFound(`the group is at ${next}`, async () => {
    const checkpoint = await stored();
    return checkpoint?.next === next ? checkpoint : undefined;
  });
const failed = () => untilFound('a failure', () => failures[0]);
const outputs = async (): Promise<string[]> => (await topology.records('carillon.outcomes')).map(textOf);
const save = (next: number, logId: LogId = topology.data.log.logId) =>
  topology.data.checkpoints.save({
    group: 'g',
    topic: 'carillon.triggers',
    partition: 0,
    logId,
    next,
    watermark: 0,
    configNumber: 5,
  });

describe('the interpreter of stages', () => {
  it('reports the lag after each batch without a query to the log', async () => {
    let asked = 0;
    const log: EventLog = {
      ...topology.data.log,
      async bounds(topic, partition) {
        asked += 1;
        return topology.data.log.bounds(topic, partition);
      },
    };
    await start(passingOn([]), { log });
    for (const [at, text] of ['a', 'b', 'c'].entries()) {
      await append(text);
      await reached(at + 1);
    }
    await untilFound('three batches ended', () => (ended.length === 3 ? true : undefined));
    expect(ended).toMatchObject([{ lag: 0 }, { lag: 0 }, { lag: 0 }]);
    // Once, where it begins.
    expect(asked).toBe(1);
  });

  it('drops erased records without passing them to the stage, and saves the position after them', async () => {
    const erased: NewRecord = { ...record(''), headers: { kind: 'erased' } };
    await topology.data.log.append([erased, record('a'), erased, erased, record('b'), erased]);
    const seen: string[] = [];
    await start(passingOn(seen));
    await reached(6);
    expect(seen).toEqual(['1:a', '4:b']);
    await untilFound('the batch ended', () => ended[0]);
    expect(ended).toMatchObject([{ fates: { done: 2, dropped: 4 } }]);
  });

  it('appends the outputs of a batch, saves state and position, and then reports fates and lag', async () => {
    await append('a', 'b');
    await start(passingOn([]));
    expect(await reached(2)).toMatchObject({ configNumber: 1, watermark: 2, logId: topology.data.log.logId });
    expect(await outputs()).toEqual(['out a', 'out b']);
    // Who watches is told a moment after the position is saved.
    await consumption?.stop();
    expect(ended).toEqual([{ fates: { done: 2 }, ruleErrors: 0, dropped: [], decided: [], lag: 0 }]);
    expect(left).toEqual([0]);
  });

  it('keeps its position while a stage needs more rounds for its first record, and writes the outputs', async () => {
    await append('a', 'b');
    const positions: (number | undefined)[] = [];
    const saves: number[] = [];
    let rounds = 0;
    const passOn = passingOn([]);
    await start({
      name: 'more-first',
      async handle(records, state) {
        rounds += 1;
        positions.push((await stored())?.next);
        if (rounds > 2) return passOn.handle(records, state);
        const text = `round ${rounds} of ${records.length} records from ${state.configNumber}`;
        return {
          fates: [],
          hasMore: true,
          outputs: [{ ...record(text), topic: 'carillon.outcomes' }],
          save: async () => (saves.push((await outputs()).length), 'done'),
          state: { ...state, configNumber: state.configNumber + 10 },
        };
      },
    });
    await reached(2);
    expect(await outputs()).toEqual(['round 1 of 2 records from -1', 'round 2 of 2 records from 9', 'out a', 'out b']);
    expect(saves).toEqual([1, 2]);
    expect(positions).toEqual([undefined, undefined, undefined]);
    expect(await stored()).toMatchObject({ configNumber: 21 });
  });

  it('passes large records on a few at a time, saves the position each time, and reports them as one batch', async () => {
    const large = 'x'.repeat(300 * 1024);
    const handed: number[] = [];
    await append(large, large, large);
    await start(passingOn([], async (records) => void handed.push(records.length)));
    await reached(3);
    await consumption?.stop();
    expect(handed).toEqual([1, 1, 1]);
    expect(ended).toEqual([{ fates: { done: 3 }, ruleErrors: 0, dropped: [], decided: [], lag: 0 }]);
  });

  it('passes on again the records that a stage left out, after the first part is saved', async () => {
    const handed: string[] = [];
    const saved: (number | undefined)[] = [];
    await append('a', 'b', 'c');
    const whole = passingOn([]);
    const slow: BatchStage = {
      name: 'one at a time',
      async handle(records, state) {
        saved.push((await stored())?.next);
        handed.push(records.map(textOf).join(''));
        return whole.handle(records.slice(0, 1), state);
      },
    };
    await start(slow);
    await reached(3);
    await consumption?.stop();
    expect(handed).toEqual(['abc', 'bc', 'c']);
    expect(saved).toEqual([undefined, 1, 2]);
    expect(await outputs()).toEqual(['out a', 'out b', 'out c']);
    expect(ended).toEqual([{ fates: { done: 3 }, ruleErrors: 0, dropped: [], decided: [], lag: 0 }]);
  });

  it('rejects a stage that processes no record, because it would loop forever', async () => {
    await append('a');
    await start({ name: 'idle', handle: async (_records, state) => ({ fates: [], outputs: [], state }) });
    expect(await failed()).toContain('idle took none of its records');
  });

  it('passes on together the records that arrive during a rest, and does not rest while it is behind', async () => {
    const batches: number[] = [];
    const sizes = async (records: readonly LogRecord[]): Promise<void> => void batches.push(records.length);
    const rests: PromiseWithResolvers<void>[] = [];
    const rest = (): Promise<void> => {
      const one = Promise.withResolvers<void>();
      rests.push(one);
      return one.promise;
    };
    await append('a', 'b', 'c', 'd', 'e');
    await start(passingOn([], sizes), { maxRecords: 2, rest });
    // Three were behind the first batch, one behind the second.
    await expect.poll(() => rests.length).toBe(1);
    expect(batches).toEqual([2, 2]);
    await append('f');
    expect(batches).toEqual([2, 2]);
    rests[0]?.resolve();
    await expect.poll(() => batches).toEqual([2, 2, 2]);
    await expect.poll(() => rests.length).toBe(2);
    rests[1]?.resolve();
  });

  it('resumes after a restart at its position, with its state', async () => {
    await append('a', 'b');
    await start(passingOn([]));
    await reached(2);
    await consumption?.stop();
    await topology.restart();
    await append('c');
    const seen: string[] = [];
    await start(passingOn(seen));
    expect((await reached(3)).configNumber).toBe(2);
    expect(seen).toEqual(['2:c']);
  });

  it('keeps the position if the outputs cannot be appended, and repeats the batch', async () => {
    await append('a');
    let away = 2;
    const { log } = topology.data;
    const faulty: EventLog = {
      ...log,
      append: (list) => ((away -= 1) >= 0 ? Promise.reject(new Error('away')) : log.append(list)),
    };
    const seen: string[] = [];
    await start(passingOn(seen), { log: faulty });
    await reached(1);
    expect(seen).toEqual(['0:a', '0:a', '0:a']);
    expect(failures).toEqual(['away', 'away']);
    expect(await outputs()).toEqual(['out a']);
  });

  it('repeats outputs, but loses none, if the position cannot be saved', async () => {
    await append('a');
    let away = 1;
    const { checkpoints } = topology.data;
    const save2: CheckpointStore['save'] = (one) =>
      (away -= 1) >= 0 ? Promise.reject(new Error('away')) : checkpoints.save(one);
    await start(passingOn([]), { checkpoints: { ...checkpoints, save: save2 } });
    expect((await reached(1)).configNumber).toBe(0);
    expect(await outputs()).toEqual(['out a', 'out a']);
  });

  it('saves the data of a stage after its outputs and before the position, and repeats the batch if that is refused', async () => {
    await append('a');
    const saved: [outputs: number, position: number | undefined][] = [];
    const keeping = passingOn([]);
    await start({
      ...keeping,
      handle: async (records, state) => ({
        ...(await keeping.handle(records, state)),
        save: async () => {
          saved.push([(await outputs()).length, (await stored())?.next]);
          return saved.length === 1 ? 'refused' : 'done';
        },
      }),
    });
    await reached(1);
    expect(saved).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
    expect(failures).toEqual([expect.stringContaining('another worker of g has already read further')]);
  });

  it('is fenced if its partition moved elsewhere, and resumes from the stored position', async () => {
    await append('a', 'b', 'c', 'd');
    const seen: string[] = [];
    let zombie = true;
    await start(
      passingOn(seen, async () => {
        if (zombie) await append('e');
        if (zombie) await save(5);
        zombie = false;
      }),
    );
    expect(await failed()).toContain('another worker of g has already read further in carillon.triggers/0');
    await append('f');
    expect((await reached(6)).configNumber).toBe(6);
    expect(seen).toEqual(['0:a', '1:b', '2:c', '3:d', '5:f']);
  });

  it('saves nothing of a batch that was running when the partition was taken away', async () => {
    await append('a');
    let stopping: Promise<void> | undefined;
    const { log } = topology.data;
    let lost: (() => Promise<void>) | undefined;
    const taking: EventLog = {
      ...log,
      consume: (options) =>
        log.consume({
          ...options,
          async assigned(partition) {
            const worker = await options.assigned(partition);
            lost = () => worker.lost();
            return worker;
          },
        }),
    };
    await start(
      passingOn([], async () => {
        await lost?.();
        stopping = consumption?.stop();
      }),
      { log: taking },
    );
    await untilFound('the end of the batch', () => ended[0]);
    await stopping;
    expect(await stored()).toBeNull();
    expect(await outputs()).toEqual([]);
  });

  it('does not start at a position of another log, and names both logs', async () => {
    await append('a');
    await save(0, 'log_OTHER' as LogId);
    const seen: string[] = [];
    await start(passingOn(seen));
    const words = await failed();
    expect(words).toContain('the checkpoint of g in carillon.triggers/0 belongs to log log_OTHER');
    expect(words).toContain(`this is ${topology.data.log.logId}; restore log and stores from one backup`);
    expect(seen).toEqual([]);
  });

  it('does not rewind if the position is beyond the end of the log', async () => {
    await append('a');
    await save(9);
    const seen: string[] = [];
    await start(passingOn(seen));
    expect(await failed()).toContain('is 9, but the log ends at 1: was it restored?');
    expect(seen).toEqual([]);
  });

  it('continues at the start of the log if its position was removed, and reports how many records are lost', async () => {
    await append('a', 'b', 'c');
    await save(1);
    topology.clock.pass(1000);
    topology.trim('carillon.triggers', topology.clock.now());
    await append('d');
    const seen: string[] = [];
    await start(passingOn(seen));
    await reached(4);
    expect(seen).toEqual(['3:d']);
    expect(skipped).toEqual([2]);
  });
});
