import { answerFieldPage, checkBody } from '@carillon/contracts';
import { answerFields, type AnswerFieldsPorts } from '@carillon/insight';
import { z } from 'zod';
import { CHECKS } from '../../access/permission.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import { checkIntegration, type IntegrationCheckPorts } from '../../integration-checks.ts';
import { MADE_UP } from '../../partner-check.ts';
import type { ControlConfig, ControlPorts, PlanningPorts } from '../../ports.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { namesOf, placeOf } from '../../names.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { withNameAcross, type ApiServer } from '../app.ts';

const checkRequest = z
  .strictObject({
    user_ids: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(10)
      .optional()
      .describe('User ids to ask about. Defaults to an id that does not exist'),
    drafts: z
      .boolean()
      .default(false)
      .describe('The integration as it is with the drafts of the workspace, which may be new'),
  })
  .nullish();

export function integrationRoutes(
  app: ApiServer,
  config: Pick<ControlConfig, 'eventsUrl'>,
  ports: IntegrationCheckPorts & PlanningPorts & AnswerFieldsPorts & Pick<ControlPorts, 'drafts'>,
): void {
  app.post(
    '/v1/workspaces/:workspace/integrations/:name/check',
    {
      config: { permission: CHECKS, audit: false, across: true, problems: ['not_found', 'invalid_configuration'] },
      schema: {
        operationId: 'checkIntegration',
        tags: ['Integrations'],
        summary: 'Calls a partner, platform, database or Kafka cluster as the engine would, and explains the answer',
        params: withNameAcross,
        body: checkRequest,
        response: { 200: checkBody },
      },
    },
    async (request) => {
      const { params, body } = request;
      const { name } = params;
      const sight = visibleScopeOf(request);
      const tried = { kind: 'integration', name } as const;
      const configuration = await configurationTried(tried, body?.drafts ?? false, sight, ports);
      const workspace = placeOf('integration', name, sight, namesOf(configuration, 'integration'));
      const asked = { workspace, integration: name, configuration, userIds: body?.user_ids ?? [MADE_UP], ...config };
      return { steps: await checkIntegration(asked, ports) };
    },
  );
  app.get(
    '/v1/workspaces/:workspace/integrations/:name/fields',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'listAnswerFields',
        tags: ['Integrations'],
        summary: 'Variables that a partner was seen to answer, over its newest answers',
        params: withNameAcross,
        querystring: z.strictObject(listPaging),
        response: { 200: answerFieldPage },
      },
    },
    async (request) => {
      const { name: integration } = request.params;
      const configuration = ports.configuration.current();
      const names = namesOf(configuration, 'integration');
      const workspace = placeOf('integration', integration, visibleScopeOf(request), names);
      const maySeeBodies = principalOf(request).may('bodies', workspace);
      const { people, fields } = await answerFields({ workspace, integration }, ports);
      const { rows, next } = pageOfAll(fields, ({ path }) => path, request.query);
      const items = rows.map(({ path, types, sample, count }) => ({
        path,
        types: [...types],
        sample: maySeeBodies ? sample : null,
        count,
      }));
      return { integration, people, items, next };
    },
  );
}
