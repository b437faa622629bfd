import { createIds, loadKeys, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type {
  CheckpointStore,
  EvaluationOutput,
  EventLog,
  NewRecord,
  PartitionState,
  SchemaRegistry,
} from '@carillon/ports';
import { createConfigurationView, createEncoder, createEvaluateStage, type EvaluatePorts } from '@carillon/stages';
import { givenRuleBook, neverYield } from '@carillon/testing/given';
import { createDirectWire, createMemoryRuleStates } from '@carillon/testing/memory';
import { readTopic } from './changes-on-log.ts';

export type Intents = {
  /** Records of intents that the product appended. */
  readonly appended: ReadonlySet<string>;
  /** Those that the log gives when it is evaluated again. */
  readonly again: ReadonlySet<string>;
};

const textOf = ({ partition, key, value }: Pick<NewRecord, 'partition' | 'key' | 'value'>): string =>
  `${partition} ${key} ${Buffer.from(value).toString('base64')}`;

/** Records that a batch of each reading has at most. Other borders of batches give the same intents. */
const BATCH_SIZES = [500, 7] as const;

/**
 * Evaluates the whole log twice more into empty stores, with the keys of the product and its configuration. Throws if the two
 * readings differ. `leaveServers` is called before the first event, so that neither the database nor the registry can be asked.
 */
export async function evaluateAgain(
  log: EventLog,
  registry: SchemaRegistry,
  dataDir: string,
  leaveServers: () => Promise<void>,
): Promise<Intents> {
  const codecs = await createRecordCodecs(registry, systemClock.now);
  const configuration = createConfigurationView(log, codecs.configuration, systemClock);
  await configuration.refresh();
  await leaveServers();

  const ids = createIds(loadKeys(dataDir).ledgerKey);
  const ports = { log, codecs, ids, configuration, clock: systemClock, slice: neverYield, book: givenRuleBook() };
  const readings: ReadonlySet<string>[] = [];
  for (const size of BATCH_SIZES) readings.push(await readFromStart(ports, size));
  const [again = new Set(), other = new Set()] = readings;
  if (other.symmetricDifference(again).size > 0) throw new Error('two readings of one log give different intents');

  const appended = new Set<string>();
  for await (const records of readTopic(log, 'carillon.intents'))
    for (const record of records) appended.add(textOf(record));
  return { appended, again };
}

/** Evaluates a log as the interpreter does, into empty stores. Returns the intents. */
async function readFromStart(
  ports: Omit<EvaluatePorts, 'ruleStates'> & Parameters<typeof createEncoder>[0] & { readonly log: EventLog },
  batchSize: number,
): Promise<ReadonlySet<string>> {
  const encode = createEncoder(ports);
  const ruleStates = createMemoryRuleStates().connect(createDirectWire());
  const stage = createEvaluateStage({ ...ports, ruleStates });
  const states = new Map<number, PartitionState>();
  const intents = new Set<string>();
  for await (const records of readTopic(ports.log, 'carillon.events')) {
    const partition = records[0]?.partition ?? 0;
    let state = states.get(partition) ?? { partition, configNumber: -1, watermark: 0 };
    for (let left = records; left.length > 0;) {
      const result = await stage.handle(left.slice(0, batchSize), state);
      await result.save?.();
      ({ state } = result);
      left = left.slice(result.fates.length);
      for (const text of intentsOf(result.outputs, encode)) intents.add(text);
    }
    states.set(partition, state);
  }
  return intents;
}

/** Returns true if the product has evaluated all events of the log. */
export async function isEvaluated(log: EventLog, checkpoints: CheckpointStore): Promise<boolean> {
  for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
    const { start, end } = await log.bounds('carillon.events', partition);
    const checkpoint = await checkpoints.load('engine', 'carillon.events', partition);
    if ((checkpoint?.next ?? start) < end) return false;
  }
  return true;
}

const intentsOf = (
  outputs: readonly EvaluationOutput[],
  encode: (output: EvaluationOutput) => NewRecord,
): readonly string[] => outputs.filter(({ kind }) => kind === 'intent').map((output) => textOf(encode(output)));
