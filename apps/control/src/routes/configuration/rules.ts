import { ruleTestBody } from '@carillon/contracts';
import { findRule, readRuleTitle, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { sightOver } from '../../draft.ts';
import { proposedConfiguration } from '../../drafts/proposed.ts';
import { configurationWithDrafts } from '../../drafts/with-drafts.ts';
import type { PlanningPorts, RoutePorts } from '../../ports.ts';
import { CHECKS, type Permission } from '../../access/permission.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { placeOf, rulesOf } from '../../names.ts';
import type { PartnerSays } from '../../rule-tests/partner-answer.ts';
import { testRequest } from '../../rule-tests/request.ts';
import type { RuleTestPorts } from '../../rule-tests/rule-test-ports.ts';
import { testRule } from '../../rule-tests/rule-test.ts';
import { demandOneOf, eventsToTry } from '../../rule-tests/tried-events.ts';
import { notFound, withNameAcross, type ApiServer } from '../app.ts';

/** A rule as people name it. Throws `not_found` with the nearest. */
export function ruleInSight(title: string, sight: VisibleScope, configuration: Configuration): PlacedRule {
  const names = rulesOf(configuration);
  const name = readRuleTitle(title);
  if (!name) {
    const [meant] = sight.names.flatMap(names).filter((rule) => rule.endsWith(`.${title}`));
    throw notFound(`rule ${title}`, `name it notification.rule${meant === undefined ? '' : `, such as ${meant}`}`);
  }
  const placed = findRule(configuration, placeOf('rule', title, sight, names), name);
  if (placed) return placed;
  throw notFound(`rule ${title}`);
}

/** A folder is larger than other bodies. */
const FOLDER_LIMIT = 16 * 1024 * 1024;

export function ruleRoutes(
  app: ApiServer,
  ports: RuleTestPorts &
    PlanningPorts &
    Pick<RoutePorts, 'compileRule' | 'log' | 'readModels' | 'ruleStates' | 'drafts'>,
): void {
  app.post(
    '/v1/workspaces/:workspace/rules/:name/test',
    {
      config: {
        permission: 'read',
        audit: false,
        across: true,
        problems: ['not_found', 'invalid_configuration', 'conflict'],
      },
      bodyLimit: FOLDER_LIMIT,
      schema: {
        operationId: 'testRule',
        tags: ['Rules'],
        summary: 'Evaluates a rule without sending: values, recipients, rendered messages',
        params: withNameAcross,
        body: testRequest,
        response: { 200: ruleTestBody },
      },
    },
    async (request) => {
      const { params, body } = request;
      const sight = visibleScopeOf(request);
      const principal = principalOf(request);
      if (body.files && body.drafts) throw new CarillonError('invalid_request', 'give files, or drafts: not both');
      const draft =
        (body.files && (await configurationWithFolder(body.files, sight, ports))) ??
        (body.drafts ? await draftsFor(params, sight, ports) : undefined);
      const judgedBy = draft ?? ports.configuration.current();
      const placed = ruleInSight(params.name, draft ? sightOver(draft, sight) : sight, judgedBy);
      if (body.files) demandOneOf(DRAFTS, principal, placed.workspace);
      if (body.ask_partner && body.answer !== undefined) {
        throw new CarillonError('invalid_request', 'send ask_partner or answer, not both');
      }
      if (body.ask_partner && (body.events?.length ?? 1) > 1) {
        throw new CarillonError('invalid_request', 'ask_partner: takes one event. For several events paste an answer.');
      }
      if (body.ask_partner) demandOneOf(body.files ? PUBLISHES : CHECKS, principal, placed.workspace);
      const events = await eventsToTry(placed, body, request, { ...ports, configuration: judgedBy });
      const entry = ports.compileRule(placed);
      if (!entry.ok) throw new CarillonError('invalid_configuration', entry.error.map((one) => one.message).join('; '));
      const partner: PartnerSays = body.ask_partner ? { from: 'partner' } : { from: 'person', pasted: body.answer };
      return testRule(entry.value, events, partner, { ...ports, configuration: { current: () => judgedBy } });
    },
  );
}

/**
 * Returns the configuration as applying the files of the workspace in sight would make it. Mistakes name no resource of another
 * workspace. All files count for a caller who may read the whole deployment and names no workspace.
 */
async function configurationWithFolder(
  files: Readonly<Record<string, string>>,
  { sees, workspace }: VisibleScope,
  ports: PlanningPorts & Pick<RoutePorts, 'drafts'>,
): Promise<Configuration> {
  if (workspace === undefined && !sees(null)) {
    throw new CarillonError('invalid_request', 'files: name the workspace of the rule in the path');
  }
  const ofWorkspace = workspace !== undefined && { workspace };
  const edit = { kind: 'folder', files, prune: false, ...ofWorkspace } as const;
  return (await proposedConfiguration(edit, ports)).configuration;
}

/** Returns the configuration with the workspace's drafts published, for a rule that may exist only in a draft. */
export async function draftsFor(
  { workspace, name }: { readonly workspace: string; readonly name: string },
  sight: VisibleScope,
  ports: PlanningPorts & Pick<RoutePorts, 'drafts'>,
): Promise<Configuration> {
  const rule = readRuleTitle(name);
  if (sight.workspace === undefined || !rule) {
    throw new CarillonError('invalid_request', 'drafts: name the workspace, and the rule as notification.rule');
  }
  return configurationWithDrafts(workspace, { kind: 'notification', name: rule.notification }, ports);
}

/**
 * Rendering a folder's template may show any field, so it needs permission to publish templates or to see all contents.
 */
const DRAFTS = ['configure', 'bodies'] as const satisfies readonly Permission[];

/** A folder says where a partner is, and the workspace's own secret would go there: for whoever could publish that. */
const PUBLISHES = ['configure'] as const satisfies readonly Permission[];
