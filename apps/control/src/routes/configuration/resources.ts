import { resourceAt } from '../../resources/versions.ts';
import { resourceYaml } from '@carillon/configuration';
import { deletedResourceBody, resourcePlanBody } from '@carillon/contracts';
import { listResources, resourceKey, type Resource } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { changedBy } from '../../access/changed-by.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { draftsOf } from '../../drafts/plan-drafts.ts';
import { showJwtProvider } from '../../bodies.ts';
import { MAX_BODY_BYTES, takeStrictJson } from '../../resources/body-json.ts';
import { missing, refOf, withParams, type Params, type ResourcePorts } from '../../resources/address.ts';
import { KINDS_OF_RESOURCES, type KindOfResource } from '../../resources/kinds.ts';
import type { ControlPorts } from '../../ports.ts';
import { planResources } from '../../resources/plan-resources.ts';
import { etagOf, preconditionOf } from '../../resources/preconditions.ts';
import { publishResource, showPlan } from '../../resources/publish-resources.ts';
import { schemasOf, writeHeaders } from '../../resources/schemas.ts';
import { asWanted, showingActors, showResource } from '../../resources/shown.ts';
import { listPaging, type ListQuery, pageOfAll } from '../../whole-lists.ts';
import { acrossWorkspaces, noBody, type ApiServer } from '../app.ts';
import { versionRoutes } from './versions.ts';

type Schemas = ReturnType<typeof schemasOf>;
type ListPorts = ResourcePorts & Pick<ControlPorts, 'drafts'>;

/** List, read, write, remove, plan and versions of every kind of resource that people write. */
export async function resourceRoutes(app: ApiServer, ports: ListPorts): Promise<void> {
  await app.register(async (plain) => {
    takeStrictJson(plain, MAX_BODY_BYTES);
    const scope: ApiServer = plain.withTypeProvider();
    for (const kind of KINDS_OF_RESOURCES) {
      const schemas = schemasOf(kind);
      if (kind.listPath !== null) listRoute(scope, kind, kind.listPath, schemas, ports);
      readRoute(scope, kind, schemas, ports);
      writeRoute(scope, kind, schemas, ports);
      if (kind.goes) removeRoute(scope, kind, ports);
      planRoute(scope, kind, schemas, ports);
      versionRoutes(scope, kind, schemas.resource, ports);
    }
  });
}

function listRoute(app: ApiServer, kind: KindOfResource, path: string, { list }: Schemas, ports: ListPorts): void {
  app.get(
    path,
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: `list${kind.many}`,
        tags: [kind.tag],
        summary: `All ${kind.title}s with their bodies, by name`,
        ...(kind.kind !== 'workspace' && { params: acrossWorkspaces }),
        querystring: z.strictObject(listPaging),
        response: { 200: list },
      },
    },
    async (request) => {
      const configuration = await ports.configuration.refresh();
      const { sees } = visibleScopeOf(request);
      const all = listResources(configuration, kind.kind).filter(({ ref }) => sees(ref.workspace));
      const { rows: page, next } = pageOfAll(
        all,
        ({ ref }) => `${ref.workspace}/${ref.name}`,
        request.query as ListQuery,
      );
      const show = showingActors(ports);
      const shown = { ...ports, drafts: await draftsOnPage(page, ports) };
      const items = [];
      for (const resource of page) {
        const also = resource.ref.kind === 'jwt_provider' ? showJwtProvider(resource as never, configuration) : {};
        items.push({ ...also, ...(await showResource(resource, show, shown)) });
      }
      return { items, next } as never;
    },
  );
}

const FEW = 5;

/** The drafts of a page's resources, each workspace of it read once. */
async function draftsOnPage(
  page: readonly Resource[],
  ports: Pick<ControlPorts, 'drafts' | 'slice'>,
): Promise<Pick<ControlPorts['drafts'], 'find'>> {
  // Where there are few resources, each draft is asked for by itself.
  if (page.length <= FEW) return ports.drafts;
  const workspaces = [...new Set(page.map(({ ref }) => ref.workspace))];
  const all = (await Promise.all(workspaces.map((one) => draftsOf(one, ports)))).flat();
  const byKey = new Map(all.map((draft) => [resourceKey(draft.ref), draft]));
  return { find: async (ref) => byKey.get(resourceKey(ref)) ?? null };
}

const MEDIA_TYPE = /^\s*(?:application|text)\/(?:x-)?(yaml|json)\b/i;
/** The first of the media types that is answered here. JSON where nothing else is asked for. */
const wantsYaml = (accept: string | undefined): boolean =>
  accept
    ?.split(',')
    .map((one) => MEDIA_TYPE.exec(one)?.[1]?.toLowerCase())
    .find((one) => one !== undefined) === 'yaml';

function readRoute(app: ApiServer, kind: KindOfResource, { resource }: Schemas, ports: ResourcePorts): void {
  app.get(
    kind.path,
    {
      config: { permission: 'read', problems: ['not_found'], answers: ['etag', 'yaml'] },
      schema: {
        operationId: `get${kind.one}`,
        tags: [kind.tag],
        summary: `One ${kind.title}; with Accept: application/yaml as its file`,
        ...withParams(kind),
        response: { 200: resource },
      },
    },
    async (request, reply) => {
      const ref = refOf(kind, request.params as Params);
      const found = (await ports.configuration.refresh()).resources.get(resourceKey(ref));
      if (!found) throw missing(kind, ref, ports);
      void reply.header('etag', etagOf(found.number)).header('vary', 'accept');
      const wanted = asWanted(found);
      if (wanted && wantsYaml(request.headers.accept)) {
        return reply.type('application/yaml; charset=utf-8').send(resourceYaml(wanted) as never);
      }
      return showResource(found, showingActors(ports), ports) as never;
    },
  );
}

function writeRoute(app: ApiServer, kind: KindOfResource, { body, resource }: Schemas, ports: ResourcePorts): void {
  app.put(
    kind.path,
    {
      config: {
        permission: 'configure',
        audit: 'resource.change',
        answers: ['etag'],
        problems: ['invalid_configuration', 'conflict', 'precondition_failed', 'precondition_required', 'not_found'],
        ...(kind.kind === 'workspace' && { newWorkspace: true }),
      },
      schema: {
        operationId: `put${kind.one}`,
        tags: [kind.tag],
        summary: `Writes this ${kind.title} whole: makes it, or replaces the one that you read`,
        ...withParams(kind),
        headers: writeHeaders,
        body,
        response: { 200: resource },
      },
    },
    async (request, reply) => {
      const ref = refOf(kind, request.params as Params);
      const precondition = preconditionOf(request.headers);
      const put = [{ ref, body: request.body }];
      const principal = principalOf(request);
      const write = { ref, precondition, principal, request: () => ({ put, remove: [] }) };
      const { plan, number } = await publishResource(write, changedBy(request), ports);
      // Return what this request wrote, because a newer version of another author would hide it.
      const written =
        number === null
          ? plan.current.resources.get(resourceKey(ref))
          : resourceAt(ports.configuration.history.statesOf(ref), number);
      if (!written) throw new CarillonError('conflict', 'the resource was removed meanwhile; read the list again');
      void reply.header('etag', etagOf(written.number));
      return showResource(written, showingActors(ports), ports) as never;
    },
  );
}

function removeRoute(app: ApiServer, kind: KindOfResource, ports: ResourcePorts): void {
  app.delete(
    kind.path,
    {
      config: {
        permission: kind.kind === 'workspace' ? 'people' : 'configure',
        audit: 'resource.remove',
        problems: ['invalid_configuration', 'conflict', 'precondition_failed', 'precondition_required', 'not_found'],
      },
      schema: {
        operationId: `delete${kind.one}`,
        tags: [kind.tag],
        summary: `Removes the ${kind.title} that you read, where nothing needs it`,
        ...withParams(kind),
        headers: writeHeaders,
        body: noBody,
        response: { 200: deletedResourceBody },
      },
    },
    async (request) => {
      const ref = refOf(kind, request.params as Params);
      const precondition = preconditionOf(request.headers);
      if (precondition.kind === 'absent') {
        throw new CarillonError('invalid_request', 'send If-Match with the ETag of the version that you read');
      }
      const principal = principalOf(request);
      const write = { ref, precondition, principal, request: () => ({ put: [], remove: [ref] }) };
      const { number } = await publishResource(write, changedBy(request), ports);
      return { deleted: true, new_number: number ?? ports.configuration.current().number };
    },
  );
}

function planRoute(app: ApiServer, kind: KindOfResource, { body }: Schemas, ports: ResourcePorts): void {
  app.post(
    `${kind.below}/${kind.asking}`,
    {
      config: {
        permission: 'configure',
        audit: false,
        problems: ['not_found'],
        ...(kind.kind === 'workspace' && { newWorkspace: true }),
      },
      schema: {
        operationId: `${kind.asking}${kind.one}`,
        tags: [kind.tag],
        summary: `What writing this ${kind.title} would change, or all its mistakes; changes nothing`,
        ...withParams(kind),
        body,
        response: { 200: resourcePlanBody },
      },
    },
    async (request) => {
      const ref = refOf(kind, request.params as Params);
      const plan = await planResources({ put: [{ ref, body: request.body }], remove: [] }, ports);
      return showPlan(plan);
    },
  );
}
