import { kafkaPosition } from '@carillon/domain/changes';
import type { TopicsSource } from '@carillon/domain/configuration';
import { err, ok, type Result } from '@carillon/kernel';
import type { Secrets, TopicTarget } from '@carillon/ports';
import { prepareTopicRecord } from '@carillon/stages';
import type { OpenedSource } from './opened-source.ts';
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

/** Topics that streams take from a source, each once. */
const topicNamesOf = ({ streams }: TopicsSource): readonly string[] =>
  [...new Set(streams.flatMap(({ topics }) => topics.map(({ topic }) => topic)))].toSorted();

/** Opens a Kafka cluster with its secrets, or returns the name of a secret that is not set. */
export async function openTopics(source: TopicsSource, ports: SourcePorts): Promise<Result<OpenedSource, string>> {
  const target = await resolveCluster(source, ports.secrets);
  if (!target.ok) return target;
  const adapter = await ports.topicSources();
  const topics = topicNamesOf(source);
  return ok({
    database: null,
    open: (from, { take, report }) =>
      adapter.open(target.value, topics, kafkaPosition(from), {
        take: ({ records, position }) =>
          take({
            position,
            count: records.length,
            prepare: () => {
              const origin = { integration: source.name, clusterId: position.clusterId, streams: source.streams };
              return records.flatMap((record) => prepareTopicRecord(record, origin, ports));
            },
          }),
        report: ({ tables, lagRecords }) => report({ tables, lagBytes: null, lagRecords }),
      }),
    async reset({ request }) {
      const begun = await adapter.reset(target.value, topics, request.start ?? 'oldest');
      return begun.ok ? ok({ position: begun.value, left: '' }) : begun;
    },
  });
}
