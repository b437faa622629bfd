import { kafkaPosition, type WaitingProblem } from '@carillon/domain/changes';
import type { TopicsSource } from '@carillon/domain/configuration';
import { err, ok, type Result } from '@carillon/kernel';
import type { RegistryTarget, Secrets, TopicEnd, TopicRecord, TopicTarget } from '@carillon/ports';
import { prepareTopicRecord } from '@carillon/stages';
import { createNeededSchemas } from './needed-schemas.ts';
import { prepareEach, type OpenedSource } from './opened-source.ts';
import type { SourcePorts } from './source-ports.ts';

/** Returns the cluster behind a source, or the name of a secret that is not set. */
async function resolveCluster(
  { workspace, name, body: { brokers, sasl, tls } }: TopicsSource,
  secrets: Secrets,
): Promise<Result<TopicTarget, string>> {
  const password = sasl ? await secrets.resolve(workspace, sasl.password.secret) : null;
  if (sasl && password === null) return err(sasl.password.secret);
  const ca = tls?.ca ? await secrets.resolve(workspace, tls.ca.secret) : null;
  if (tls?.ca && ca === null) return err(tls.ca.secret);
  return ok({
    workspace,
    integration: name,
    brokers,
    tls: tls ? { ca } : null,
    sasl: sasl ? { mechanism: sasl.mechanism, username: sasl.username, password: password ?? '' } : null,
  });
}

/** Returns the schema registry of a source, or the name of a secret that is not set. Null: the integration names none. */
async function resolveRegistry(
  { workspace, body: { registry } }: TopicsSource,
  secrets: Secrets,
): Promise<Result<RegistryTarget | null, string>> {
  if (registry === undefined) return ok(null);
  const { url, username = null, password: reference } = registry;
  const password = reference ? await secrets.resolve(workspace, reference.secret) : null;
  return reference && password === null ? err(reference.secret) : ok({ url, username, password });
}

/** Topics that streams take from a source, each once. */
const topicNamesOf = ({ streams }: TopicsSource): readonly string[] =>
  [...new Set(streams.flatMap(({ topics }) => topics.map(({ topic }) => topic)))].toSorted();

/** Opens a Kafka cluster with its secrets, or returns the name of a secret that is not set. */
export async function openTopics(source: TopicsSource, ports: SourcePorts): Promise<Result<OpenedSource, string>> {
  const target = await resolveCluster(source, ports.secrets);
  if (!target.ok) return target;
  const registry = await resolveRegistry(source, ports.secrets);
  if (!registry.ok) return registry;
  const needed = createNeededSchemas(registry.value, ports.avroSchemas);
  const adapter = await ports.topicSources();
  const topics = topicNamesOf(source);
  const isEnvelope = ({ topic }: TopicRecord): boolean =>
    source.streams.some(
      ({ stream, topics: read }) => stream.format === 'debezium' && read.some((one) => one.topic === topic),
    );
  return ok({
    database: null,
    open(from, { take, report }) {
      let missing: WaitingProblem | null = null;
      const reader = adapter.open(target.value, topics, kafkaPosition(from), {
        async take({ records, position }) {
          const schemas = await needed.of(records.filter(isEnvelope));
          if (!schemas.ok) {
            missing = schemas.error;
            throw new Error('a schema of the records is missing');
          }
          const { clusterId } = position;
          const origin = { integration: source.name, clusterId, streams: source.streams, schemas: schemas.value };
          const prepare = () => prepareEach(records, (record) => prepareTopicRecord(record, origin, ports));
          await take({ position, count: records.length, prepare });
        },
        report: ({ tables, lagRecords }) =>
          report({ tables, lagBytes: null, ...(lagRecords !== null && { lagRecords }) }),
      });
      const waiting = (end: TopicEnd): TopicEnd =>
        end.kind === 'closed' && missing !== null ? { kind: 'waiting', ...missing } : end;
      return { ended: reader.ended.then(waiting), close: () => reader.close() };
    },
    async reset({ from, topic, request }) {
      const passed = topic === null ? topics : topics.filter((name) => name === topic);
      const begun = await adapter.reset(target.value, passed, request.start ?? 'oldest');
      if (!begun.ok) return begun;
      const before = topic === null ? null : kafkaPosition(from);
      const position = before ? { ...before, topics: { ...before.topics, ...begun.value.topics } } : begun.value;
      return ok({ position, left: '' });
    },
  });
}
