import {
  publicationPage,
  resourceDiffBody,
  rolledBackBody,
  rollbackRequest as rollbackBody,
  versionPage,
} from '@carillon/contracts';
import { principalOf } from '../../access/principal.ts';
import { resourceKey, type Configuration, type Resource, type ResourceRef } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { changedBy } from '../../access/changed-by.ts';
import { paramsOf, refOf, withParams, type ResourcePorts } from '../../resources/address.ts';
import type { KindOfResource } from '../../resources/kinds.ts';
import { planResources } from '../../resources/plan-resources.ts';
import { preconditionOf } from '../../resources/preconditions.ts';
import { publishResource, showPlan } from '../../resources/publish-resources.ts';
import { beforeOf, diffQuery, numberPaging, numberParam, writeHeaders } from '../../resources/schemas.ts';
import { showingActors, showResource } from '../../resources/shown.ts';
import {
  diffResources,
  goneReferences,
  listPublications,
  listVersions,
  resourceAt,
  rollbackRequest,
  type RollbackWish,
} from '../../resources/versions.ts';
import { inWorkspace, notFound, type ApiServer } from '../app.ts';

type Params = { readonly workspace?: string; readonly name?: string; readonly number?: number };

/** Routes to list the versions of a resource with their authors, and to restore one. */
export function versionRoutes(app: ApiServer, kind: KindOfResource, shown: z.ZodType, ports: ResourcePorts): void {
  listVersionsRoute(app, kind, ports);
  readVersionRoute(app, kind, shown, ports);
  diffVersionsRoute(app, kind, ports);
  rollBackRoute(app, kind, ports);
}

function listVersionsRoute(app: ApiServer, kind: KindOfResource, ports: ResourcePorts): void {
  const { tag, title, one, below } = kind;
  app.get(
    `${below}/versions`,
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: `list${one}Versions`,
        tags: [tag],
        summary: `Versions of this ${title}, newest first: number, who, when, how and why`,
        ...withParams(kind),
        querystring: numberPaging,
        response: { 200: versionPage },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const states = await statesOf(kind, refOf(kind, request.params as Params), ports);
      return listVersions(states, beforeOf(cursor), limit, showingActors(ports));
    },
  );
}

function readVersionRoute(app: ApiServer, kind: KindOfResource, shown: z.ZodType, ports: ResourcePorts): void {
  const { tag, title, one, below } = kind;
  app.get(
    `${below}/versions/:number`,
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: `get${one}Version`,
        tags: [tag],
        summary: `This ${title} as it was in the configuration with this number`,
        params: z.intersection(paramsOf(kind), z.object({ number: numberParam })),
        response: { 200: shown },
      },
    },
    async (request) => {
      const { number = 0, ...rest } = request.params as Params;
      const found = await versionOf(kind, refOf(kind, rest), number, ports);
      return showResource(found, showingActors(ports), ports);
    },
  );
}

function diffVersionsRoute(app: ApiServer, kind: KindOfResource, ports: ResourcePorts): void {
  const { tag, title, one, below } = kind;
  app.get(
    `${below}/diff`,
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: `diff${one}`,
        tags: [tag],
        summary: `What differs between two versions of this ${title}, by field and by file`,
        ...withParams(kind),
        querystring: diffQuery,
        response: { 200: resourceDiffBody },
      },
    },
    async (request) => {
      const ref = refOf(kind, request.params as Params);
      const states = await statesOf(kind, ref, ports);
      const { from } = request.query;
      const newest = ports.configuration.current().number;
      const to = request.query.to ?? newest;
      for (const [field, number] of Object.entries({ from, to })) mustHaveBeen(field, number, newest);
      return { from, to, ...diffResources(resourceAt(states, from) ?? null, resourceAt(states, to) ?? null) };
    },
  );
}

function rollBackRoute(app: ApiServer, kind: KindOfResource, ports: ResourcePorts): void {
  const { tag, title, one, below } = kind;
  app.post(
    `${below}/rollback`,
    {
      config: {
        permission: 'configure',
        audit: 'resource.rollback',
        problems: ['invalid_configuration', 'conflict', 'precondition_failed', 'precondition_required', 'not_found'],
      },
      schema: {
        operationId: `rollBack${one}`,
        tags: [tag],
        summary: `Publishes the body of an earlier version of this ${title} again`,
        ...withParams(kind),
        headers: writeHeaders,
        body: rollbackBody,
        response: { 200: rolledBackBody },
      },
    },
    async (request) => {
      const { body } = request;
      const ref = refOf(kind, request.params as Params);
      const to = await versionOf(kind, ref, body.number, ports);
      const wish: RollbackWish = { ref, to, at: await ports.configuration.at(body.number) };
      const requestOver = (current: Configuration) => rollbackRequest(wish, body.with_references, current);
      if (body.check_only) {
        const current = await ports.configuration.refresh();
        const plan = await planResources(requestOver(current), ports);
        return { applied: false, new_number: null, gone: namesOf(goneReferences(wish, current)), ...showPlan(plan) };
      }
      const precondition = preconditionOf(request.headers);
      const gone = namesOf(goneReferences(wish, await ports.configuration.refresh()));
      const by = changedBy(request, 'rollback', body.message ?? null);
      const write = { ref, precondition, principal: principalOf(request), request: requestOver };
      const { plan, number } = await publishResource(write, by, ports);
      return { applied: number !== null, new_number: number, gone, ...showPlan(plan) };
    },
  );
}

/** What happened in a workspace. */
export function publicationRoute(app: ApiServer, ports: ResourcePorts): void {
  app.get(
    '/v1/workspaces/:workspace/versions',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listPublications',
        tags: ['Configuration'],
        summary: 'Everything that was published in a workspace, newest first',
        params: inWorkspace,
        querystring: numberPaging,
        response: { 200: publicationPage },
      },
    },
    async ({ params, query: { limit, cursor } }) => {
      await ports.configuration.refresh();
      const { history } = ports.configuration;
      return listPublications(history, params.workspace, beforeOf(cursor), limit, showingActors(ports));
    },
  );
}

const namesOf = (resources: readonly Resource[]) => resources.map(({ ref: { kind, name } }) => ({ kind, name }));

async function statesOf(kind: KindOfResource, ref: ResourceRef, ports: ResourcePorts) {
  await ports.configuration.refresh();
  const states = ports.configuration.history.statesOf(ref);
  if (states.length > 0) return states;
  throw notFound(`${kind.title} ${ref.name}`.trim(), 'and there never was');
}

function mustHaveBeen(field: string, number: number, newest: number): void {
  if (number <= newest) return;
  throw new CarillonError('invalid_request', `${field}: there is no configuration ${number}; the newest is ${newest}`);
}

/** Throws `not_found` where the configuration of this number had no such resource. */
async function versionOf(kind: KindOfResource, ref: ResourceRef, number: number, ports: ResourcePorts) {
  const states = await statesOf(kind, ref, ports);
  mustHaveBeen('number', number, ports.configuration.current().number);
  const found = resourceAt(states, number);
  if (found && resourceKey(found.ref) === resourceKey(ref)) return found;
  const known = states.filter(({ resource }) => resource !== null).map(({ publication }) => publication.number);
  const words = known.slice(-10).join(', ');
  throw notFound(`${kind.title} ${ref.name} at number ${number}`.replace('  ', ' '), `its versions: ${words}`);
}
