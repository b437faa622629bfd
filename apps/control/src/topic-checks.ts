import { describeTable } from '@carillon/domain/changes';
import { topicsOf, type Configuration, type TopicsIntegration } from '@carillon/domain/configuration';
import { err } from '@carillon/kernel';
import type { SourceTopic, TopicCheck, TopicSources, TopicTarget } from '@carillon/ports';
import type { Check, ControlPorts } from './ports.ts';
import { CHECK_TIMEOUT } from './routes/configuration/cohorts.ts';
import {
  before,
  kindStep,
  LATE,
  secretStep,
  serverSteps,
  streamsReading,
  withSecrets,
  type Found,
  type SourceRef,
} from './source-checks.ts';

export const findTopicTarget = (
  { workspace, integration }: SourceRef,
  body: TopicsIntegration,
  ports: Pick<ControlPorts, 'secrets'>,
): Promise<Found<TopicTarget>> =>
  withSecrets(workspace, body, ports, (valueOf) => {
    const { brokers, tls, sasl } = body;
    return {
      workspace,
      integration,
      brokers,
      tls: tls === undefined ? null : { ca: tls.ca === undefined ? null : valueOf(tls.ca.secret) },
      sasl: sasl === undefined ? null : { ...sasl, password: valueOf(sasl.password.secret) },
    };
  });

const UNANSWERED: TopicCheck = { server: null, problems: [LATE], topics: [] };

/** Returns the topics of a cluster, or why they could not be read in time. */
export const readTopics = (
  topicSources: Pick<TopicSources, 'topics'>,
  target: TopicTarget,
): ReturnType<TopicSources['topics']> => {
  const deadline = AbortSignal.timeout(CHECK_TIMEOUT);
  return before(deadline, topicSources.topics(target, deadline), err(LATE));
};

/** Looks at a Kafka cluster as the engine would, and says what keeps its topics from being read. Changes nothing there. */
export async function checkTopics(
  body: TopicsIntegration,
  ref: SourceRef & { readonly configuration: Configuration },
  ports: Pick<ControlPorts, 'secrets' | 'topicSources'>,
): Promise<Check[]> {
  const found = await findTopicTarget(ref, body, ports);
  if ('missing' in found) return [kindStep(body), ...found.missing.map(secretStep)];
  const topicSources = await ports.topicSources();
  const named = streamsReading(ref, ref.configuration).flatMap((stream) => topicsOf(stream).map(({ topic }) => topic));
  const deadline = AbortSignal.timeout(CHECK_TIMEOUT);
  const checking = topicSources.check(found.target, [...new Set(named)], deadline);
  const checked = await before(deadline, checking, UNANSWERED);
  return [kindStep(body), ...serverSteps(body.kind, checked), ...checked.topics.map(topicStep)];
}

function topicStep({ topic, partitions, problem }: SourceTopic): Check {
  const step = `topic ${topic}`;
  if (problem) return { step, ok: false, detail: describeTable(topic, problem), fix: problem.fix };
  return { step, ok: true, detail: `can be read, ${partitions === 1 ? '1 partition' : `${partitions} partitions`}` };
}
