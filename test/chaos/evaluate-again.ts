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
import { createConfigurationView, createEncoder, createEvaluateStage } from '@carillon/stages';
import { givenRuleBook, neverYield, noRuleStates } from '@carillon/testing/given';
import { readTopic } from './changes-on-log.ts';

export type Intents = {
  /** Records of intents that the product appended. */
  readonly appended: ReadonlySet<string>;
  /** Those that the log gives when it is evaluated again. */
  readonly again: ReadonlySet<string>;
};

const textOf = ({ partition, key, value }: Pick<NewRecord, 'partition' | 'key' | 'value'>): string =>
  `${partition} ${key} ${Buffer.from(value).toString('base64')}`;

/**
 * Evaluates the whole log once more, with the keys of the product and its configuration. `leaveServers` is called before the
 * first event, so that neither the database nor the registry can be asked.
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
  const ports = { log, codecs, ids, configuration, clock: systemClock };
  const encode = createEncoder(ports);
  const stage = createEvaluateStage({ ...ports, slice: neverYield, ruleStates: noRuleStates, book: givenRuleBook() });
  const states = new Map<number, PartitionState>();
  const again = new Set<string>();
  for await (const records of readTopic(log, 'carillon.events')) {
    const partition = records[0]?.partition ?? 0;
    let state = states.get(partition) ?? { partition, configNumber: -1, watermark: 0 };
    for (let left = records; left.length > 0;) {
      const result = await stage.handle(left, state);
      ({ state } = result);
      left = left.slice(result.fates.length);
      for (const text of intentsOf(result.outputs, encode)) again.add(text);
    }
    states.set(partition, state);
  }

  const appended = new Set<string>();
  for await (const records of readTopic(log, 'carillon.intents'))
    for (const record of records) appended.add(textOf(record));
  return { appended, again };
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
