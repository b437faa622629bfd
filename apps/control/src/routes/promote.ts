import { promotedBody, promoteRequest } from '@carillon/contracts';
import { lacking } from '../access/guard.ts';
import { principalOf } from '../access/principal.ts';
import { filesOf } from '../drafts/plan-drafts.ts';
import { liveOf, planPromotion, writePromotion, type PromotePorts } from '../drafts/promote.ts';
import { showDrafts } from '../drafts/shown-drafts.ts';
import { resourceOf } from '../drafts/states.ts';
import { faultBody, warningBody } from '../resources/publish-resources.ts';
import { showingActors, type ShowingPorts } from '../resources/shown.ts';
import { inWorkspace, type ApiServer } from './app.ts';

/** `promote`: what was tried in a test environment becomes drafts of its live workspace, to be reviewed and published there. */
export function promoteRoute(app: ApiServer, ports: PromotePorts & Pick<ShowingPorts, 'people'>): void {
  app.post(
    '/v1/workspaces/:workspace/promote',
    {
      config: {
        permission: 'configure',
        audit: 'promotion.write',
        problems: ['invalid_request', 'not_found', 'wrong_state'],
      },
      schema: {
        operationId: 'promoteWorkspace',
        tags: ['Drafts'],
        summary:
          'Makes drafts in the live workspace of what a test environment has otherwise; matched by name, with the ids of live. Keys, secrets and accounts are never copied: what live lacks is named',
        params: inWorkspace,
        body: promoteRequest,
        response: { 200: promotedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { resources, check_only: checkOnly } = request.body;
      const principal = principalOf(request);
      const live = liveOf(await ports.configuration.refresh(), workspace);
      if (!principal.may('configure', live)) throw lacking(['configure']);
      const promotion = await planPromotion(workspace, resources, ports);
      const written = checkOnly ? null : await writePromotion(workspace, promotion, principal.actor, ports);
      const { current } = promotion.plan;
      const refs = written?.written ?? promotion.wanted.map(({ ref }) => ref);
      const inTheWay = [...promotion.inTheWay, ...(written?.inTheWay ?? [])];
      return {
        live,
        written: !checkOnly,
        drafts: refs.map((ref) => ({
          ...ref,
          action: resourceOf(current, ref) ? ('update' as const) : ('create' as const),
        })),
        unchanged: promotion.unchanged,
        in_the_way: await showDrafts(inTheWay, current, showingActors(ports)),
        missing: promotion.missing.map(({ kind, name, neededBy }) => ({ kind, name, needed_by: [...neededBy] })),
        only_live: promotion.onlyLive.map(({ kind, name }) => ({ kind, name })),
        plan: {
          faults: promotion.plan.faults.map(faultBody),
          warnings: promotion.plan.warnings.map(warningBody),
          changes: promotion.plan.shown,
          files: filesOf(promotion.plan),
        },
      };
    },
  );
}
