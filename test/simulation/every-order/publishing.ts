import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import type { Instant, LogId } from '@carillon/kernel';
import type { EventLog, LogRecord, NewRecord, BatchStage, PartitionState, EvaluationOutput } from '@carillon/ports';
import {
  createConfigurationView,
  createEvaluateStage,
  createRuleBook,
  markerRecord,
  publishConfiguration,
  repeatMarkers,
} from '@carillon/stages';
import { changesOf, noRuleStates, neverYield, orderShop, template } from '@carillon/testing/given';
import { createDirectWire, createMemoryLog } from '@carillon/testing/memory';
import type { Process } from '../scheduler.ts';
import type { Shared } from '../world.ts';
import { createTable, type Mishap } from './table.ts';

export type Bug = {
  /** Puts the bug into the log that publishers get. */
  readonly log?: (log: EventLog) => EventLog;
  readonly stage?: (stage: BatchStage<EvaluationOutput>) => BatchStage<EvaluationOutput>;
};
export type Run = { readonly requests: number; readonly broken: string | null };
/** The second publisher begins when the first has made so many requests. */
export type Layout = { readonly mishaps: readonly Mishap[]; readonly secondAfter: number };

const LOG_ID = 'log_00000000000000000000000001' as LogId;
const PARTITIONS = 2;
const BEGIN: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };

/**
 * Two publishers over one log, each changing a template of its own, and events after each that was told it counts; then
 * the keeper of the markers, and the stage that judges. Says what does not hold.
 */
export async function runPublishing({ mishaps, secondAfter }: Layout, shared: Shared, bug: Bug = {}): Promise<Run> {
  const { codecs, ids } = shared;
  const events = { died: (process: Process) => void (process.alive = false), held: () => undefined };
  const table = createTable(mishaps, events);
  const { scheduler } = table;
  const clock = { now: (): Instant => scheduler.now() };
  const memory = createMemoryLog({ logId: LOG_ID, partitions: PARTITIONS, now: clock.now });
  const direct = memory.connect(createDirectWire());
  const codec = codecs.configuration;
  /** By event id: the number that somebody had been told counts before it was posted. */
  const promised = new Map<string, number>();
  let posted = 0;
  let began = 0;

  function post(number: number): void {
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      posted += 1;
      promised.set(`evt_${posted}`, number);
      void direct.append([eventRecord(partition, `evt_${posted}`)]);
    }
  }

  async function publish(name: string, log: EventLog): Promise<number> {
    const view = createConfigurationView(log, codec, clock);
    const wish = name === 'first' ? orderShop() : [template(name, { email: { subject: name, text: '' } })];
    const changes = changesOf(await view.refresh(), wish);
    const ports = { log, codec, view, clock, readEverywhere: async () => undefined };
    return publishConfiguration({ ...ports, ids: { ...ids, random: () => `req_${name}` } }, changes, CHANGED_BY_OWNER);
  }

  function begin(name: string): void {
    began += 1;
    const process = { name, alive: true, frozenUntil: 0 };
    const log = memory.connect(table.wire(process));
    const publishing = (): void =>
      void publish(name, bug.log?.(log) ?? log).then(
        (number) => post(number),
        () => undefined,
      );
    scheduler.add(0, process, 'publishes', publishing);
  }
  const look = (): void => {
    if (began === 1 && table.asked() >= secondAfter) begin('two');
  };

  post(-1);
  await publish('first', direct);
  post(0);
  await table.run(() => begin('one'), look);
  // Where the first ended before the second was to begin.
  if (began === 1)
    await table.run(
      () => begin('two'),
      () => undefined,
    );
  const requests = table.asked();
  const newest = await createConfigurationView(direct, codec, clock).refresh();
  await repeatMarkers(direct, newest.number);
  post(newest.number);

  const book = createRuleBook(shared.compile, shared.templates);
  const view = createConfigurationView(direct, codec, clock);
  const stage = createEvaluateStage({
    log: direct,
    configuration: view,
    codecs,
    ids,
    clock,
    book,
    slice: neverYield,
    ruleStates: noRuleStates,
  });
  const broken: string[] = [];
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const records = memory.all('carillon.events').filter((record) => record.partition === partition);
    const ways = [records.length, 1].map((size) => judged(records, partition, size, bug.stage?.(stage) ?? stage));
    const [whole = [], ...split] = await Promise.all(ways);
    if (split.some((one) => one.join() !== whole.join())) broken.push(`batches decide in partition ${partition}`);
    for (const [at, record] of records.entries()) {
      const number = whole[at] ?? -1;
      const least = promised.get(record.headers['event_id'] ?? '') ?? -1;
      if (number < least) broken.push(`${record.headers['event_id']} is judged by ${number}, and ${least} counted`);
      if (number < (whole[at - 1] ?? -1)) broken.push(`partition ${partition} goes back to ${number}`);
    }
  }
  return { requests, broken: broken[0] ?? null };
}

/** The configuration number by which each record is judged, handed over so many at a time. */
async function judged(
  records: readonly LogRecord[],
  partition: number,
  size: number,
  stage: BatchStage<EvaluationOutput>,
): Promise<readonly number[]> {
  let state = { ...BEGIN, partition };
  const numbers: number[] = [];
  for (let from = 0; from < records.length; from += size) {
    const result = await stage.handle(records.slice(from, from + size), state);
    ({ state } = result);
    for (const output of result.outputs) {
      if (output.kind !== 'evaluation') continue;
      const { from: first, to, configNumber } = output.evaluation;
      for (let at = first; at < to; at += 1) numbers[at] = configNumber;
    }
  }
  return numbers;
}

const eventRecord = (partition: number, id: string): NewRecord => ({
  topic: 'carillon.events',
  partition,
  key: id,
  value: new TextEncoder().encode('{"status":"paid"}'),
  headers: { kind: 'event', enc: '0', event_id: id, workspace: 'shop', stream: 'shop/orders' },
});

export const isMarker = ({ key }: NewRecord): boolean => key === markerRecord(0, 0).key;
