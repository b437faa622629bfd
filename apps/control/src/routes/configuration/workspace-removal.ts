import { removeWorkspaceRequest, workspaceRemovalBody } from '@carillon/contracts';
import { changedBy } from '../../access/changed-by.ts';
import { audited } from '../../audit/facts.ts';
import { countRemoval, removeWorkspace } from '../../resources/remove-workspace.ts';
import type { WritingPorts } from '../../resources/publish-resources.ts';
import type { ControlPorts } from '../../ports.ts';
import { inWorkspace, type ApiServer } from '../app.ts';

/** Routes that show the content of a workspace, and remove the workspace after confirmation. */
export function workspaceRemovalRoutes(
  app: ApiServer,
  ports: WritingPorts & Pick<ControlPorts, 'vault' | 'people' | 'drafts'>,
): void {
  app.get(
    '/v1/workspaces/:workspace/removal',
    {
      config: { permission: 'people' },
      schema: {
        operationId: 'countWorkspaceRemoval',
        tags: ['Workspaces'],
        summary:
          'What would go with a workspace: resources, secrets, drafts, the roles of members, and how many people wait for a message that would not be sent',
        params: inWorkspace,
        response: { 200: workspaceRemovalBody },
      },
    },
    ({ params: { workspace } }) => countRemoval(workspace, ports),
  );

  app.post(
    '/v1/workspaces/:workspace/remove',
    {
      config: { permission: 'people', audit: 'resource.remove', problems: ['invalid_configuration', 'conflict'] },
      schema: {
        operationId: 'removeWorkspace',
        tags: ['Workspaces'],
        summary: 'Removes a workspace and its contents immediately. `removal` shows the contents first',
        params: inWorkspace,
        body: removeWorkspaceRequest,
        response: { 200: workspaceRemovalBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      audited(request, { target: workspace });
      return removeWorkspace(workspace, request.body.number, changedBy(request), ports);
    },
  );
}
