import { writeConfigurationFolder } from '@carillon/configuration';
import { appliedBody, exportedBody, folderBody, planBody } from '@carillon/contracts';
import { listResources } from '@carillon/domain/configuration';
import { z } from 'zod';
import { demandPeopleForEnvironments } from '../../access/environment-changes.ts';
import { principalOf } from '../../access/principal.ts';
import { changedBy } from '../../access/changed-by.ts';
import { applyFolder, planFolder } from '../../configuration.ts';
import { unknownFilter } from '../../names.ts';
import type { ControlConfig, ControlPorts, PlanningPorts, PublishingPorts } from '../../ports.ts';
import type { ApiServer } from '../app.ts';

export function configurationRoutes(
  app: ApiServer,
  ports: PlanningPorts & PublishingPorts & Pick<ControlPorts, 'drafts' | 'watch'>,
  { backend }: Pick<ControlConfig, 'backend'>,
): void {
  const bodyLimit = 16 * 1024 * 1024;
  app.post(
    '/v1/configuration/plan',
    {
      config: { permission: 'configure', audit: false },
      bodyLimit,
      schema: {
        operationId: 'planConfiguration',
        tags: ['Configuration'],
        summary: 'What applying a folder would change, or all its mistakes',
        body: folderBody,
        response: { 200: planBody },
      },
    },
    async ({ body }) => {
      const planned = await planFolder(body, ports);
      return planned.body;
    },
  );

  app.post(
    '/v1/configuration/apply',
    {
      config: { permission: 'configure', audit: 'configuration.apply', problems: ['conflict'] },
      bodyLimit,
      schema: {
        operationId: 'applyConfiguration',
        tags: ['Configuration'],
        summary: 'Applies a folder of configuration files. Changes nothing if a file has a mistake',
        body: folderBody,
        response: { 200: appliedBody },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      return applyFolder(request.body, changedBy(request, 'apply'), ports, (changes, current) =>
        demandPeopleForEnvironments(changes, current, principal),
      );
    },
  );

  app.get(
    '/v1/configuration/export',
    {
      config: { permission: 'configure', audit: 'configuration.export' },
      schema: {
        operationId: 'exportConfiguration',
        tags: ['Configuration'],
        summary: 'The configuration as files',
        querystring: z.strictObject({
          workspace: z.string().max(100).optional().describe('Files of this workspace alone'),
        }),
        response: { 200: exportedBody },
      },
    },
    async ({ query: { workspace } }) => {
      const configuration = await ports.configuration.refresh();
      const known = listResources(configuration, 'workspace').map(({ ref }) => ref.workspace);
      if (workspace !== undefined && !known.includes(workspace)) {
        throw unknownFilter('workspace', 'workspace', workspace, known);
      }
      const begin = workspace === undefined ? '' : `workspaces/${workspace}/`;
      const files = [...writeConfigurationFolder(configuration, { backend })].filter(([path]) =>
        path.startsWith(begin),
      );
      return { number: configuration.number, files: Object.fromEntries(files) };
    },
  );
}
