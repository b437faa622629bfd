import { answerFieldPage, checkBody } from '@carillon/contracts';
import { findCohortIntegration } from '@carillon/domain/cohorts';
import { hasTopics, isDatabase, type Configuration, type LookupIntegration } from '@carillon/domain/configuration';
import { attribute, attributionOf, findPartner, lookupTimeouts, type OwnAnswer } from '@carillon/domain/lookups';
import { answerFields, type AnswerFieldsPorts } from '@carillon/insight';
import { formatDuration } from '@carillon/kernel';
import type { PartnerAnswer } from '@carillon/ports';
import { z } from 'zod';
import { CHECKS } from '../../access/permission.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import type { Check, ControlConfig, ControlPorts, PlanningPorts } from '../../ports.ts';
import { answerWords, askPartner, readPartnerSecrets } from '../../partner-calls.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { namesOf, placeOf } from '../../names.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { notFound, withNameAcross, type ApiServer } from '../app.ts';
import { checkDatabase } from '../../source-checks.ts';
import { checkTopics } from '../../topic-checks.ts';
import { CHECK_PATIENCE, checkPlatform, type PlatformCheckPorts } from './cohorts.ts';
import { findSource } from './source-tables.ts';

/** Asked about where nobody names an id: a partner that knows nobody of this name answers an empty array. */
const MADE_UP = 'carillon-check';

const checkRequest = z
  .strictObject({
    user_ids: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(10)
      .optional()
      .describe('Ids to ask about; left out, one that nobody has'),
    drafts: z
      .boolean()
      .default(false)
      .describe('The integration as it is with the drafts of the workspace, which may be new'),
  })
  .nullish();

type PartnerCheckPorts = Pick<ControlPorts, 'secrets' | 'partners' | 'ids'>;

export function integrationRoutes(
  app: ApiServer,
  config: Pick<ControlConfig, 'eventsUrl'>,
  ports: PlatformCheckPorts &
    PartnerCheckPorts &
    PlanningPorts &
    AnswerFieldsPorts &
    Pick<ControlPorts, 'drafts' | 'sources' | 'changeSources' | 'topicSources'>,
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
      const ref = { workspace, integration: name };
      const database = findSource(configuration, workspace, name, isDatabase);
      if (database) return { steps: await checkDatabase(ref, database, configuration, ports) };
      const cluster = findSource(configuration, workspace, name, hasTopics);
      if (cluster) return { steps: await checkTopics(ref, cluster, configuration, ports) };
      const platform = findCohortIntegration(configuration, workspace, name);
      const steps = platform
        ? await checkPlatform(workspace, name, platform, config, ports)
        : await checkPartner(configuration, workspace, name, body?.user_ids ?? [MADE_UP], ports);
      return { steps };
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

/** Calls the endpoint as the engine would, with both schemes, and says in words what came of it. */
async function checkPartner(
  configuration: Configuration,
  workspace: string,
  name: string,
  userIds: readonly string[],
  ports: PartnerCheckPorts,
): Promise<Check[]> {
  const integration = findPartner(configuration, { workspace, integration: name });
  if (!integration) throw notFound(`integration ${name} in workspace ${workspace}`);
  const { authorization } = integration;
  const { scheme = 'Bearer' } = authorization;
  const steps: Check[] = [{ step: 'integration', ok: true, detail: `kind lookup, ${integration.url}` }];
  const second = authorization.second_key ? [authorization.second_key.secret] : [];
  const { values, missing } = await readPartnerSecrets(workspace, integration, ports);
  steps.push(...missing.map((detail) => ({ step: 'secret', ok: false, detail })));
  if (steps.some(({ ok }) => !ok)) return steps;

  const call = (as: LookupIntegration, keyName: string): Promise<PartnerAnswer> =>
    askPartner(as, userIds, values, ports, keyName);
  const other = scheme === 'Bearer' ? 'Basic' : 'Bearer';
  const { base64: _, ...plain } = authorization;
  // At once, since together they have no more time than a request to this API has.
  const [answer, otherAnswer, ...seconds] = await Promise.all([
    call(integration, authorization.key.secret),
    call({ ...integration, authorization: { ...plain, scheme: other } }, authorization.key.secret),
    ...second.map((secret) => call(integration, secret)),
  ]);
  steps.push({
    step: `call with ${scheme} (as configured)`,
    ok: answer.kind === 'answered',
    detail: firstWords(answer, integration),
  });
  steps.push({ step: `call with ${other}`, ok: true, detail: answerWords(otherAnswer) });
  steps.push(schemeStep(scheme, other, answer, otherAnswer));
  for (const again of seconds) {
    steps.push({ step: 'call with the second key', ok: again.kind === 'answered', detail: answerWords(again) });
  }
  if (answer.kind === 'answered') steps.push(...answerSteps(answer, userIds, integration));
  return steps;
}

/** As `answerWords`, and where the engine would have waited longer, that it would. */
function firstWords(answer: PartnerAnswer, integration: LookupIntegration): string {
  const { total } = lookupTimeouts(integration);
  const cut = answer.kind === 'unavailable' && answer.status === null && total > CHECK_PATIENCE;
  const longer = `; a check waits ${formatDuration(CHECK_PATIENCE)} at the most, a call for a rule ${formatDuration(total)}`;
  return `${answerWords(answer)}${cut ? longer : ''}`;
}

function schemeStep(scheme: string, other: string, answer: PartnerAnswer, otherAnswer: PartnerAnswer): Check {
  const step = 'scheme';
  const taken = answer.kind === 'answered';
  const otherTaken = otherAnswer.kind === 'answered';
  if (taken && otherTaken)
    return { step, ok: true, detail: `the partner takes both Bearer and Basic; ${scheme} is used` };
  if (taken) return { step, ok: true, detail: `the partner takes ${scheme}, as configured` };
  if (otherTaken) {
    return {
      step,
      ok: false,
      detail: `the partner takes ${other}: write scheme: ${other} under authorization, and apply`,
    };
  }
  const unauthorized = answer.kind === 'unauthorized' && otherAnswer.kind === 'unauthorized';
  const detail = unauthorized
    ? 'the partner takes the key with neither scheme: is it the right key?'
    : 'no call was answered, so the scheme cannot be told';
  return { step, ok: false, detail };
}

/** What a rule would find in the answer; no address is shown. */
function answerSteps(
  { items, unread }: Extract<PartnerAnswer, { kind: 'answered' }>,
  userIds: readonly string[],
  integration: LookupIntegration,
): Check[] {
  const attributed = attribute(items, [userIds], attributionOf(integration), unread);
  const [own] = attributed.ok ? attributed.value : [];
  if (!own) return [];
  const madeUp = userIds.length === 1 && userIds[0] === MADE_UP;
  const people = own.items.map(personStep);
  // Nobody has the made-up id, so nobody has to be found.
  const missing = madeUp ? [] : own.problems.filter(({ kind }) => kind === 'missing').map(problemStep);
  const wrong = own.problems.filter(({ kind }) => kind !== 'missing').map(problemStep);
  if (people.length === 0 && wrong.length === 0 && madeUp) {
    const detail = `nobody is called ${MADE_UP}, as expected; name somebody with --user-id to see more`;
    return [{ step: 'answer', ok: true, detail }];
  }
  return [...people, ...missing, ...wrong];
}

function personStep({ userId, to, variables }: OwnAnswer['items'][number]): Check {
  const channels = (['email', 'phone', 'token'] as const).map((key) => `${key} ${to[key] === null ? 'no' : 'yes'}`);
  const names = Object.keys(variables);
  const about = userId === null ? 'a person' : `user id ${userId}`;
  const detail = `${about}: ${channels.join(', ')}; variables: ${names.length === 0 ? 'none' : names.join(', ')}`;
  return { step: 'answer', ok: to.email !== null || to.phone !== null || to.token !== null, detail };
}

const problemStep = ({ kind, index, userId, detail }: OwnAnswer['problems'][number]): Check => ({
  step: kind.replaceAll('_', ' '),
  ok: false,
  detail: [index === null ? '' : `item ${index}`, userId === null ? '' : `user id ${userId}`, detail]
    .filter((part) => part !== '')
    .join(', '),
});
