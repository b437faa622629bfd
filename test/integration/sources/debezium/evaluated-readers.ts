import type { AvroSchemas, ReadChange } from '@carillon/domain/changes';
import { sourcesOf, type NotificationBody, type RuleBody, type SourceStream } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import { stringifyJson } from '@carillon/kernel';
import type { NewRecord, TopicRecord } from '@carillon/ports';
import { createEvaluateStage, prepareChange, prepareTopicRecord, type PreparedRecord } from '@carillon/stages';
import { integration, notification, stream, template, type Wish } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { COLUMNS } from './columns.ts';
import { NAMES_BY_FORMAT } from './facts.ts';
import type { Format } from './two-readers.ts';

/** An intent without ids, positions and times. */
export type IntentFacts = Pick<
  Intent,
  'slot' | 'notification' | 'rule' | 'ruleVersion' | 'to' | 'person' | 'variables' | 'template' | 'templateVersion'
>;

type Tables = {
  /** A table with the whole row before each change. */
  readonly full: string;
  /** A table with the key of the row before. */
  readonly byKey: string;
};

const recipients: RuleBody['recipients'] = {
  from: 'event',
  to: { email: '"row-" + string(event.id) + "@example.com"' },
  unique_id: 'string(event.id)',
};
const rule = (name: string, when: string, more: Partial<RuleBody> = {}): RuleBody => ({
  stream: name,
  when,
  recipients,
  ...more,
});
/** A new key is an update for the built-in reader, and a create for Debezium: rules see the row after in both. */
const RULES: NotificationBody['rules'] = {
  written: rule('full', 'event.small > 0'),
  changed: rule('full', 'changed(event.small) && previous.id == event.id', {
    changes: ['update'],
    recipients: { ...recipients, variables: { was: 'previous.small' } },
  }),
  deleted: rule('full', 'event.normal > 0', { changes: ['delete'] }),
  written_by_key: rule('by-key', 'event.small > 0'),
};
const LARGE = ['words', 'tree', 'doc', 'raw', 'numbers', 'names'];

/** Evaluates by the same rules what the built-in reader and Debezium read. */
export class EvaluatedReaders {
  readonly #rules: readonly Wish[];
  readonly #tables: Tables;

  /** Messages have the columns that have the same values in this format, without those that may be unknown. */
  constructor(format: Format, tables: Tables) {
    this.#tables = tables;
    const names = COLUMNS.map(({ name }) => name).filter(
      (name) => NAMES_BY_FORMAT[format].has(name) && !LARGE.includes(name) && name !== 'exact',
    );
    const text = ['id', 'was', ...names].map((name) => `{{ ${name} }}`).join('\n');
    this.#rules = [
      template('row', { email: { subject: 'Row', text } }),
      notification('rows', { channels: { email: { template: 'row' } }, rules: RULES }),
    ];
  }

  ofDatabase(changes: readonly ReadChange[]): Promise<readonly IntentFacts[]> {
    const { full, byKey } = this.#tables;
    const wishes = [
      integration('source', { kind: 'postgres', url: { secret: 'SHOP_DB' } }),
      stream('full', { from: { integration: 'source', tables: { [full]: 'event.id' } } }),
      stream('by-key', { from: { integration: 'source', tables: { [byKey]: 'event.id' } } }),
    ];
    return this.#evaluate(wishes, (streams, ports) =>
      changes.flatMap((change) => prepareChange(change, streams, ports)),
    );
  }

  /** Without the deletes that the connector writes before a create with a new key. */
  ofEnvelopes(records: readonly TopicRecord[], schemas: AvroSchemas): Promise<readonly IntentFacts[]> {
    const topicsOf = (table: string) => {
      const names = new Set(records.map(({ topic }) => topic).filter((topic) => topic.endsWith(`.${table}`)));
      return Object.fromEntries([...names].map((name) => [name, 'event.id']));
    };
    const { full, byKey } = this.#tables;
    const wishes = [
      integration('source', { kind: 'kafka', brokers: ['localhost:9092'] }),
      stream('full', { format: 'debezium', from: { integration: 'source', topics: topicsOf(full) } }),
      stream('by-key', { format: 'debezium', from: { integration: 'source', topics: topicsOf(byKey) } }),
    ];
    const kept = records.filter(({ headers }) => headers['__debezium.newkey'] === undefined);
    return this.#evaluate(wishes, (streams, ports) => {
      const origin = { integration: 'source', clusterId: 'cluster', streams, schemas };
      return kept.flatMap((record) => prepareTopicRecord(record, origin, ports));
    });
  }

  async #evaluate(
    wishes: readonly Wish[],
    prepare: (streams: readonly SourceStream[], ports: Topology['ports']) => readonly PreparedRecord[],
  ): Promise<readonly IntentFacts[]> {
    const topology = await openTopology();
    try {
      await topology.publish(...wishes, ...this.#rules);
      const { ports } = topology;
      const streams = sourcesOf(ports.configuration.current()).flatMap((source) => source.streams);
      const prepared = prepare(streams, ports);
      const refused = prepared.find(({ result }) => result !== 'appended' && result !== 'skipped');
      if (refused !== undefined) throw new Error('a change was not appended', { cause: refused });
      await ports.log.append(prepared.flatMap(({ record }): readonly NewRecord[] => (record === null ? [] : [record])));
      return (await intentsOf(topology)).map(factsOf).toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
    } finally {
      await topology.close();
    }
  }
}

async function intentsOf({ ports }: Topology): Promise<readonly Intent[]> {
  const stage = createEvaluateStage(ports);
  const intents: Intent[] = [];
  for (let partition = 0; partition < ports.log.partitions('carillon.events'); partition += 1) {
    let state = { partition, configNumber: -1, watermark: 0 };
    let records = await ports.log.read('carillon.events', partition, 0, 100_000, 1024 ** 3);
    while (records.length > 0) {
      const result = await stage.handle(records, state);
      ({ state } = result);
      records = records.slice(result.fates.length);
      for (const output of result.outputs) if (output.kind === 'intent') intents.push(output.intent);
    }
  }
  return intents;
}

const factsOf = ({ slot, notification: name, rule: fired, ruleVersion, ...rest }: Intent): IntentFacts => {
  const { to, person, variables, template: used, templateVersion } = rest;
  return { slot, notification: name, rule: fired, ruleVersion, to, person, variables, template: used, templateVersion };
};
/** Intents with equal texts are equal. */
const textOf = ({ slot, rule: fired, variables }: IntentFacts): string =>
  `${slot.uniqueId} ${fired} ${stringifyJson(variables)}`;
