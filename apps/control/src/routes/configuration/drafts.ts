import {
  discardedDraftBody,
  draftBody,
  draftPage,
  draftsPlanBody,
  planDraftsRequest,
  publishDraftsRequest,
  publishedDraftsBody,
  saveDraftRequest,
  type DraftBody,
} from '@carillon/contracts';
import {
  findResource,
  isTest,
  type Configuration,
  type Draft,
  type Origin,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { CarillonError, type JsonObject } from '@carillon/kernel';
import { serializeByKey } from '@carillon/stages';
import { z } from 'zod';
import { changedBy } from '../../access/changed-by.ts';
import { principalOf } from '../../access/principal.ts';
import { createDraftPlans, type DraftPlans } from '../../drafts/draft-plans.ts';
import { bodiesOf, draftsOf, filesOf, planDraftsOver } from '../../drafts/plan-drafts.ts';
import { namedDrafts, publishDrafts, type PublishDraftPorts } from '../../drafts/publish-drafts.ts';
import { discardDraft, draftPrecondition, saveDraft } from '../../drafts/save-draft.ts';
import { conflictBody, draftEtag, showDraftFacts, showDrafts } from '../../drafts/shown-drafts.ts';
import { conflictOf, stateOf } from '../../drafts/states.ts';
import { insteadOf } from '../../names.ts';
import { MAX_BODY_BYTES, takeStrictJson } from '../../resources/body-json.ts';
import { KINDS_OF_RESOURCES } from '../../resources/kinds.ts';
import { faultBody, warningBody } from '../../resources/publish-resources.ts';
import { writeHeaders } from '../../resources/schemas.ts';
import { showingActors, type ShowingPorts } from '../../resources/shown.ts';
import { inWorkspace, notFound, oneOfWords, paging, type ApiServer } from '../app.ts';

type DraftRoutePorts = PublishDraftPorts & Pick<ShowingPorts, 'people'>;
type OneDraftPorts = DraftRoutePorts & { readonly plans: DraftPlans };

/** Kinds of a workspace by the segment of their address. */
const BY_SEGMENT = new Map(
  KINDS_OF_RESOURCES.flatMap(({ kind, listPath }) =>
    kind === 'workspace' || listPath === null ? [] : [[listPath.slice(listPath.lastIndexOf('/') + 1), kind] as const],
  ),
);
const SEGMENTS = [...BY_SEGMENT.keys()] as [string, ...string[]];
const KINDS = ['workspace', ...BY_SEGMENT.values()] as const;

const ofResource = z.object({
  workspace: z.string().max(100),
  kind: oneOfWords('kind', SEGMENTS),
  name: z.string().max(200),
});

type At = { readonly workspace: string; readonly kind?: string; readonly name?: string };
const refAt = ({ workspace, kind, name = '' }: At): ResourceRef => ({
  kind: kind === undefined ? 'workspace' : (BY_SEGMENT.get(kind) ?? 'workspace'),
  workspace,
  name,
});

/** The resource that somebody names in a body. Throws `invalid_request` for a kind that there is not. */
export function refNamed(
  workspace: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): ResourceRef {
  const known = KINDS.find((one) => one === kind);
  if (known) return { kind: known, workspace, name };
  throw new CarillonError('invalid_request', `there is no kind ${kind}; ${insteadOf(kind, KINDS)}`);
}

export function draftRoutes(app: ApiServer, ports: DraftRoutePorts): void {
  void app.register(async (scope) => {
    takeStrictJson(scope, MAX_BODY_BYTES);
    const api: ApiServer = scope.withTypeProvider();
    const named = {
      path: '/v1/workspaces/:workspace/:kind/:name/draft',
      params: ofResource,
      one: 'Draft',
      of: 'a resource',
    };
    const own = {
      path: '/v1/workspaces/:workspace/settings/draft',
      params: inWorkspace,
      one: 'WorkspaceDraft',
      of: 'the workspace’s own settings',
    };
    const plans = createDraftPlans();
    oneDraft(api, named, { ...ports, plans });
    oneDraft(api, own, { ...ports, plans });
    manyDrafts(api, ports);
  });
}

type Place = { readonly path: string; readonly params: z.ZodType<At>; readonly one: string; readonly of: string };

function oneDraft(api: ApiServer, { path, params, one, of }: Place, ports: OneDraftPorts): void {
  const tags = ['Drafts'];
  api.get(
    path,
    {
      config: { permission: 'read', problems: ['not_found'], answers: ['etag'] },
      schema: {
        operationId: `read${one}`,
        tags,
        summary: `The draft of ${of}: what it wants, what is wrong with it, and whether it can be published`,
        params,
        response: { 200: draftBody },
      },
    },
    async (request, reply) => {
      const ref = refAt(request.params);
      const draft = await ports.drafts.find(ref);
      if (!draft) throw notFound(`draft of ${ref.kind.replace('_', ' ')} ${ref.name}`.trim(), 'begin one with PUT');
      return reply.header('etag', draftEtag(draft)).send(await showDraft(draft, ports));
    },
  );

  api.put(
    path,
    {
      config: {
        permission: 'configure',
        audit: 'draft.change',
        answers: ['etag'],
        problems: ['invalid_request', 'precondition_failed', 'precondition_required', 'wrong_state'],
      },
      schema: {
        operationId: `save${one}`,
        tags,
        summary: `Saves the draft of ${of}, with mistakes or without: \`If-Match\` its \`ETag\`, or \`If-None-Match: *\` to begin one`,
        params,
        headers: writeHeaders,
        body: saveDraftRequest,
        response: { 200: draftBody },
      },
    },
    async (request, reply) => {
      const { body, based_on: basedOn } = request.body;
      const wish = { ref: refAt(request.params), body: body as JsonObject | null, basedOn };
      const draft = await saveDraft(wish, draftPrecondition(request.headers), principalOf(request).actor, ports);
      return reply.header('etag', draftEtag(draft)).send(await showDraft(draft, ports));
    },
  );

  api.delete(
    path,
    {
      config: {
        permission: 'configure',
        audit: 'draft.discard',
        problems: ['invalid_request', 'precondition_failed', 'precondition_required'],
      },
      schema: {
        operationId: `discard${one}`,
        tags,
        summary: `Discards the draft of ${of}: \`If-Match\` its \`ETag\``,
        params,
        headers: writeHeaders,
        response: { 200: discardedDraftBody },
      },
    },
    async (request) => {
      const { revision } = draftPrecondition(request.headers);
      if (revision === null)
        throw new CarillonError('precondition_required', 'send If-Match with the ETag of the draft');
      await discardDraft(refAt(request.params), revision, ports);
      return { discarded: true };
    },
  );
}

function manyDrafts(api: ApiServer, ports: DraftRoutePorts): void {
  const tags = ['Drafts'];
  const inTurn = serializeByKey();
  api.get(
    '/v1/workspaces/:workspace/drafts',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listDrafts',
        tags,
        summary: 'Drafts with their authors, start times and conflicts',
        params: inWorkspace,
        querystring: z.strictObject(paging),
        response: { 200: draftPage },
      },
    },
    async ({ params: { workspace }, query: { limit, cursor } }) => {
      const current = await ports.configuration.refresh();
      const { items, next } = await ports.drafts.list(workspace, limit, cursor);
      return { items: await showDrafts(items, current, showingActors(ports), ports.slice), next };
    },
  );

  api.post(
    '/v1/workspaces/:workspace/drafts/plan',
    {
      config: {
        permission: 'configure',
        audit: false,
        problems: ['invalid_request', 'not_found', 'precondition_failed'],
      },
      schema: {
        operationId: 'planDrafts',
        tags,
        summary:
          'What publishing drafts together would change: fields, files, warnings, people under what goes; and which are in conflict',
        params: inWorkspace,
        body: planDraftsRequest,
        response: { 200: draftsPlanBody },
      },
    },
    // A response may have 8 MiB and is written synchronously. Requests of a workspace run one after the other, so that
    // other requests get a chance in between.
    ({ params: { workspace }, body }) => inTurn(workspace, () => planNamed(workspace, body.drafts, ports)),
  );

  api.post(
    '/v1/workspaces/:workspace/drafts/publish',
    {
      config: {
        permission: 'configure',
        audit: 'draft.publish',
        problems: [
          'invalid_request',
          'invalid_configuration',
          'not_found',
          'conflict',
          'draft_conflict',
          'precondition_failed',
        ],
      },
      schema: {
        operationId: 'publishDrafts',
        tags,
        summary: 'Publishes drafts as one record, or nothing: where one is in conflict or has a mistake',
        params: inWorkspace,
        body: publishDraftsRequest,
        response: { 200: publishedDraftsBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { drafts: names, message } = request.body;
      const wanted = names.map((one) => ({ ref: refNamed(workspace, one), revision: one.revision }));
      const drafts = await namedDrafts(wanted, ports);
      const by = changedBy(request, originOf(drafts, ports.configuration.current()), message ?? null);
      const { plan, number } = await publishDrafts(drafts, by, principalOf(request), ports);
      return {
        new_number: number,
        published: drafts.map(({ ref }) => ({ ...ref })),
        warnings: plan.warnings.map(warningBody),
        changes: plan.shown,
      };
    },
  );
}

/**
 * Returns `promote` if a draft of a live workspace came from its test environment. A draft that was copied into a test
 * environment is no promotion. Undefined means that the request itself says the origin.
 */
const originOf = (drafts: readonly Draft[], current: Configuration): Origin | undefined =>
  drafts.some(
    ({ ref, promotedFrom }) =>
      promotedFrom !== undefined && !isTest(findResource(current, 'workspace', ref.workspace, '')?.body ?? {}),
  )
    ? 'promote'
    : undefined;

/** Plans the drafts of these names, or all of a workspace, as they would be published together. */
async function planNamed(
  workspace: string,
  names: z.infer<typeof planDraftsRequest>['drafts'],
  ports: DraftRoutePorts,
): Promise<z.input<typeof draftsPlanBody>> {
  const drafts = names
    ? await namedDrafts(
        names.map((one) => ({ ref: refNamed(workspace, one), revision: one.revision })),
        ports,
      )
    : await draftsOf(workspace, ports);
  const current = await ports.configuration.refresh();
  const plan = await planDraftsOver(current, drafts, ports);
  const lost = drafts.filter((draft) => stateOf(draft, current) === 'conflict');
  return {
    number: current.number,
    drafts: await showDrafts(drafts, current, showingActors(ports), ports.slice),
    conflicts: lost.map((draft) => conflictBody(conflictOf(draft, current, ports.configuration.history))),
    faults: plan.faults.map(faultBody),
    warnings: plan.warnings.map(warningBody),
    changes: plan.shown,
    files: await filesOf(plan, ports.slice),
    bodies: bodiesOf(drafts, current),
  };
}

/**
 * A draft with what keeps it from being published. It is checked together with the other drafts of its workspace, because
 * a notification and its new template are two drafts.
 */
async function showDraft(draft: Draft, ports: OneDraftPorts): Promise<DraftBody> {
  const current = await ports.configuration.refresh();
  const { faults, warnings } = await ports.plans.findingsOf(draft, current, ports);
  const facts = await showDraftFacts(draft, current, showingActors(ports));
  const { history } = ports.configuration;
  return {
    ...facts,
    body: draft.body,
    faults: faults.map(faultBody),
    warnings: warnings.map(warningBody),
    conflict: facts.state === 'conflict' ? conflictBody(conflictOf(draft, current, history)) : null,
  };
}
