import { databaseTablesBody, type DatabaseTablesBody } from '@carillon/contracts';
import { describeTable, describeWaiting } from '@carillon/domain/changes';
import { findResource, isDatabase, type Configuration, type DatabaseIntegration } from '@carillon/domain/configuration';
import type { SourceTable } from '@carillon/ports';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import { namesOf, placeOf } from '../../names.ts';
import type { ControlPorts, PlanningPorts } from '../../ports.ts';
import { findTarget, readTables } from '../../source-checks.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { withNameAcross, type ApiServer } from '../app.ts';

type TablePorts = PlanningPorts & Pick<ControlPorts, 'changeSources' | 'drafts'>;

/** Returns the database of this name, if the integration is one. */
export function findDatabase(
  configuration: Configuration,
  workspace: string,
  name: string,
): DatabaseIntegration | null {
  const found = findResource(configuration, 'integration', workspace, name);
  return found && isDatabase(found.body) ? found.body : null;
}

/** Tables of a database, for the person who chooses some of them for a stream. */
export function sourceTableRoute(app: ApiServer, ports: TablePorts): void {
  app.get(
    '/v1/workspaces/:workspace/integrations/:name/tables',
    {
      config: {
        permission: 'configure',
        across: true,
        problems: ['not_found', 'invalid_configuration', 'secret_missing'],
      },
      schema: {
        operationId: 'listDatabaseTables',
        tags: ['Integrations'],
        summary: 'Tables of a database with their columns, and why one cannot be read; at most 1,000',
        params: withNameAcross,
        querystring: z.strictObject({
          ...listPaging,
          drafts: z
            .enum(['true', 'false'])
            .default('false')
            .describe('The integration as it is with the drafts of the workspace, which may be new'),
        }),
        response: { 200: databaseTablesBody },
      },
    },
    async (request): Promise<DatabaseTablesBody> => {
      const { params, query } = request;
      const { name } = params;
      const scope = visibleScopeOf(request);
      const tried = { kind: 'integration', name } as const;
      const configuration = await configurationTried(tried, query.drafts === 'true', scope, ports);
      const workspace = placeOf('database', name, scope, (one) =>
        namesOf(configuration, 'integration')(one).filter((each) => findDatabase(configuration, one, each)),
      );
      const body = findDatabase(configuration, workspace, name);
      if (!body) throw new CarillonError('not_found', `there is no database ${name}`);
      const found = await findTarget({ workspace, integration: name }, body, ports);
      if ('missing' in found) throw new CarillonError('secret_missing', found.missing.join('; '));
      const tables = await readTables(await ports.changeSources(), found.target);
      if (!tables.ok) {
        const { reason, fix } = tables.error;
        return { items: [], next: null, problem: { reason, sentence: describeWaiting(body.kind, tables.error), fix } };
      }
      const { rows, next } = pageOfAll(tables.value, ({ table }) => table, query);
      return { items: rows.map(showTable), next, problem: null };
    },
  );
}

const showTable = ({ table, columns, identity, problem }: SourceTable): DatabaseTablesBody['items'][number] => ({
  table,
  columns: columns.map((column) => ({ ...column })),
  identity,
  problem: problem && { reason: problem.reason, sentence: describeTable(table, problem), fix: problem.fix },
});
