import { copiedBody, promotedBody, transferRequest, type TransferBody } from '@carillon/contracts';
import type { FastifyRequest } from 'fastify';
import { lacking } from '../../access/guard.ts';
import { principalOf } from '../../access/principal.ts';
import { bodiesOf, filesOf } from '../../drafts/plan-drafts.ts';
import {
  liveOf,
  planCopy,
  planPromotion,
  writeTransfer,
  type Chosen,
  type PromotePorts,
  type Transfer,
} from '../../drafts/promote.ts';
import { showDrafts } from '../../drafts/shown-drafts.ts';
import { resourceOf } from '../../drafts/states.ts';
import { faultBody, warningBody } from '../../resources/publish-resources.ts';
import { showingActors, type ShowingPorts } from '../../resources/shown.ts';
import { inWorkspace, type ApiServer } from '../app.ts';

type TransferPorts = PromotePorts & Pick<ShowingPorts, 'people'>;

const writesDrafts = {
  permission: 'configure',
  audit: 'promotion.write',
  problems: ['invalid_request', 'not_found', 'wrong_state'],
} as const;

/** Promotes a test environment to drafts of its live workspace, and copies a live workspace to drafts of its test environment. */
export function promoteRoutes(app: ApiServer, ports: TransferPorts): void {
  app.post(
    '/v1/workspaces/:workspace/promote',
    {
      config: writesDrafts,
      schema: {
        operationId: 'promoteWorkspace',
        tags: ['Drafts'],
        summary:
          'Makes drafts in the live workspace of what a test environment has otherwise; matched by name, with the ids of live. Keys, secrets and accounts are never copied: what live lacks is named',
        params: inWorkspace,
        body: transferRequest,
        response: { 200: promotedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const live = liveOf(await ports.configuration.refresh(), workspace);
      if (!principalOf(request).may('configure', live)) throw lacking(['configure']);
      const promotion = await planPromotion(workspace, chosenOf(request.body), ports);
      const onlyLive = promotion.onlyThere.map(({ kind, name }) => ({ kind, name }));
      return { live, ...(await transfer(request, promotion, ports)), only_live: onlyLive };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/copy',
    {
      config: writesDrafts,
      schema: {
        operationId: 'copyLiveWorkspace',
        tags: ['Drafts'],
        summary:
          'Makes drafts in a test environment of what its live workspace has otherwise, matched by name. Keys, secrets, accounts and people are never copied: what the test environment lacks is named',
        params: inWorkspace,
        body: transferRequest,
        response: { 200: copiedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const live = liveOf(await ports.configuration.refresh(), workspace);
      if (!principalOf(request).may('read', live)) throw lacking(['read']);
      const copy = await planCopy(workspace, chosenOf(request.body), ports);
      return { from: live, ...(await transfer(request, copy, ports)) };
    },
  );
}

type TransferRequest = { readonly resources?: Chosen['resources']; readonly with_needs: boolean };

const chosenOf = ({ resources, with_needs: withNeeds }: TransferRequest): Chosen => ({ resources, withNeeds });

/** Writes the planned drafts, unless the request only checks. Returns what was or would be written. */
async function transfer(
  request: FastifyRequest<{ Body: { readonly check_only: boolean } }>,
  planned: Transfer,
  ports: TransferPorts,
): Promise<TransferBody> {
  const { check_only: checkOnly } = request.body;
  const written = checkOnly ? null : await writeTransfer(planned, principalOf(request).actor, ports);
  const { wanted, unchanged, missing, plan } = planned;
  const { current } = plan;
  const drafts = written ? wanted.filter(({ ref }) => written.written.includes(ref)) : wanted;
  const inTheWay = [...planned.inTheWay, ...(written?.inTheWay ?? [])];
  return {
    written: !checkOnly,
    drafts: drafts.map(({ ref, isNewerThere }) => ({
      ...ref,
      action: resourceOf(current, ref) ? ('update' as const) : ('create' as const),
      replaces_newer: isNewerThere,
    })),
    unchanged,
    in_the_way: await showDrafts(inTheWay, current, showingActors(ports), ports.slice),
    missing: missing.map(({ kind, name, neededBy }) => ({ kind, name, needed_by: [...neededBy] })),
    plan: {
      faults: plan.faults.map(faultBody),
      warnings: plan.warnings.map(warningBody),
      changes: plan.shown,
      files: await filesOf(plan, ports.slice),
      bodies: bodiesOf(wanted, current),
    },
  };
}
