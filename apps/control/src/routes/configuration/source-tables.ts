import {
  databaseTablesBody,
  kafkaTopicsBody,
  type DatabaseTablesBody,
  type KafkaTopicsBody,
} from '@carillon/contracts';
import {
  describeTable,
  describeWaiting,
  type SourceKind,
  type SourceProblem,
  type WaitingReason,
} from '@carillon/domain/changes';
import {
  findResource,
  hasTopics,
  isDatabase,
  type Configuration,
  type IntegrationBody,
  type SourceIntegration,
} from '@carillon/domain/configuration';
import { CarillonError, type Result } from '@carillon/kernel';
import type { SourceTable, SourceTopic } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import { namesOf, placeOf } from '../../names.ts';
import type { ControlPorts, PlanningPorts } from '../../ports.ts';
import { findTarget, readTables, type Found } from '../../source-checks.ts';
import { findTopicTarget, readTopics } from '../../topic-checks.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { withNameAcross, type ApiServer } from '../app.ts';

type TablePorts = PlanningPorts & Pick<ControlPorts, 'changeSources' | 'topicSources' | 'drafts'>;

const querystring = z.strictObject({
  ...listPaging,
  drafts: z
    .enum(['true', 'false'])
    .default('false')
    .describe('The integration as it is with the drafts of the workspace, which may be new'),
});
type Query = z.infer<typeof querystring>;

/** Listing of tables or topics, which differs by the kind of source. */
type Listing<Body extends SourceIntegration, Target, Row> = {
  /** Noun for messages. */
  readonly thing: string;
  readonly isOne: (body: IntegrationBody) => body is Body;
  readonly find: (
    ref: { workspace: string; integration: string },
    body: Body,
    ports: TablePorts,
  ) => Promise<Found<Target>>;
  readonly read: (target: Target, ports: TablePorts) => Promise<Result<readonly Row[], SourceProblem<WaitingReason>>>;
  readonly nameOf: (row: Row) => string;
};

/** Tables of a database and topics of a Kafka cluster, for the person who chooses some of them for a stream. */
export function sourceTableRoutes(app: ApiServer, ports: TablePorts): void {
  const config = {
    permission: 'configure',
    across: true,
    problems: ['not_found', 'invalid_configuration', 'secret_missing'],
  } as const;
  app.get(
    '/v1/workspaces/:workspace/integrations/:name/tables',
    {
      config,
      schema: {
        operationId: 'listDatabaseTables',
        tags: ['Integrations'],
        summary: 'Tables of a database with their columns, and why one cannot be read; at most 1,000',
        params: withNameAcross,
        querystring,
        response: { 200: databaseTablesBody },
      },
    },
    async (request): Promise<DatabaseTablesBody> => {
      const { rows, ...rest } = await listRows(request, request.params.name, request.query, TABLES, ports);
      return { items: rows.map(showTable), ...rest };
    },
  );
  app.get(
    '/v1/workspaces/:workspace/integrations/:name/topics',
    {
      config,
      schema: {
        operationId: 'listKafkaTopics',
        tags: ['Integrations'],
        summary: 'Topics of a Kafka cluster, and why one cannot be read; at most 1,000',
        params: withNameAcross,
        querystring,
        response: { 200: kafkaTopicsBody },
      },
    },
    async (request): Promise<KafkaTopicsBody> => {
      const { rows, ...rest } = await listRows(request, request.params.name, request.query, TOPICS, ports);
      return { items: rows.map(showTopic), ...rest };
    },
  );
}

const listing = <Body extends SourceIntegration, Target, Row>(of: Listing<Body, Target, Row>) => of;

const TABLES = listing({
  thing: 'database',
  isOne: isDatabase,
  find: findTarget,
  read: async (target, ports) => readTables(await ports.changeSources(), target),
  nameOf: ({ table }: SourceTable) => table,
});
const TOPICS = listing({
  thing: 'Kafka cluster',
  isOne: hasTopics,
  find: findTopicTarget,
  read: async (target, ports) => readTopics(await ports.topicSources(), target),
  nameOf: ({ topic }: SourceTopic) => topic,
});

async function listRows<Body extends SourceIntegration, Target, Row>(
  request: FastifyRequest,
  name: string,
  query: Query,
  { thing, isOne, find, read, nameOf }: Listing<Body, Target, Row>,
  ports: TablePorts,
): Promise<{ rows: readonly Row[]; next: string | null; problem: DatabaseTablesBody['problem'] }> {
  const scope = visibleScopeOf(request);
  const tried = { kind: 'integration', name } as const;
  const configuration = await configurationTried(tried, query.drafts === 'true', scope, ports);
  const bodyIn = (workspace: string, one: string): Body | null => findSource(configuration, workspace, one, isOne);
  const workspace = placeOf(thing, name, scope, (one) =>
    namesOf(configuration, 'integration')(one).filter((each) => bodyIn(one, each) !== null),
  );
  const body = bodyIn(workspace, name);
  if (!body) throw new CarillonError('not_found', `there is no ${thing} ${name}`);
  const found = await find({ workspace, integration: name }, body, ports);
  if ('missing' in found) throw new CarillonError('secret_missing', found.missing.join('; '));
  const all = await read(found.target, ports);
  if (!all.ok) return { rows: [], next: null, problem: showProblem(body.kind, all.error) };
  return { ...pageOfAll(all.value, nameOf, query), problem: null };
}

/** Returns the integration of this name, if it is one of the kind that is asked for. */
export function findSource<Body extends IntegrationBody>(
  configuration: Configuration,
  workspace: string,
  name: string,
  isOne: (body: IntegrationBody) => body is Body,
): Body | null {
  const found = findResource(configuration, 'integration', workspace, name);
  return found && isOne(found.body) ? found.body : null;
}

const showProblem = (kind: SourceKind, problem: SourceProblem<WaitingReason>) => ({
  reason: problem.reason,
  sentence: describeWaiting(kind, problem),
  fix: problem.fix,
});

const showTable = ({ table, columns, identity, problem }: SourceTable): DatabaseTablesBody['items'][number] => ({
  table,
  columns: columns.map((column) => ({ ...column })),
  identity,
  problem: problem && { reason: problem.reason, sentence: describeTable(table, problem), fix: problem.fix },
});

const showTopic = ({ topic, partitions, problem }: SourceTopic): KafkaTopicsBody['items'][number] => ({
  topic,
  partitions,
  problem: problem && { reason: problem.reason, sentence: describeTable(topic, problem), fix: problem.fix },
});
