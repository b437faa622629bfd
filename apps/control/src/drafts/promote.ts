import {
  isKind,
  isWritten,
  referencesOf,
  writtenBody,
  type WantedResource,
  type WrittenKind,
} from '@carillon/configuration';
import {
  canonical,
  findResource,
  isTest,
  listResources,
  resourceKey,
  type Actor,
  type Configuration,
  type Draft,
  type Resource,
  type ResourceRef,
} from '@carillon/domain';
import { CarillonError, isCarillonError, type JsonObject } from '@carillon/kernel';
import { insteadOf } from '../names.ts';
import type { PlanningPorts } from '../ports.ts';
import type { ResourcesPlan } from '../resources/plan-resources.ts';
import { draftsOf, planDraftsOver } from './plan-drafts.ts';
import { saveDraft, type DraftPorts } from './save-draft.ts';
import { resourceOf } from './states.ts';

/** What is promoted where nobody says what. Other kinds name systems, credentials and people of their environment. */
const PROMOTED = ['notification', 'template', 'layout', 'partial', 'stream'] as const satisfies readonly WrittenKind[];
/** What may be promoted where somebody names it. */
const ON_DEMAND = [...PROMOTED, 'integration', 'jwt_provider'] as const satisfies readonly WrittenKind[];

export type Missing = { readonly kind: string; readonly name: string; readonly neededBy: readonly string[] };
export type Promotion = {
  readonly live: string;
  /** What would be drafts of the live workspace, each with the number that it is to be based on. */
  readonly wanted: readonly (Pick<Draft, 'ref' | 'basedOn'> & { readonly body: JsonObject })[];
  readonly unchanged: number;
  readonly inTheWay: readonly Draft[];
  readonly missing: readonly Missing[];
  readonly onlyLive: readonly ResourceRef[];
  readonly plan: ResourcesPlan;
};

export type PromotePorts = PlanningPorts & DraftPorts;

/** The workspace that a test environment is for. Throws `wrong_state` for any other workspace. */
export function liveOf(current: Configuration, workspace: string): string {
  const body = findResource(current, 'workspace', workspace, '')?.body ?? {};
  if (isTest(body) && body.of !== undefined) return body.of;
  const fix = isTest(body)
    ? 'write of: with the live workspace'
    : 'write environment: test, and of: with the live workspace,';
  throw new CarillonError(
    'wrong_state',
    `${workspace} is no test environment of another workspace; ${fix} into its workspace.yaml`,
  );
}

export type NamedResource = { readonly kind: string; readonly name: string };

/** What of a test environment, named or all, its live workspace has not or has otherwise: by name, with the number there. */
function comparedWithLive(current: Configuration, workspace: string, named: readonly NamedResource[] | undefined) {
  const live = liveOf(current, workspace);
  const chosen = named ? named.map((one) => chosenResource(current, workspace, one)) : allOf(current, workspace);
  const all = chosen.map((resource) => ({ resource, ref: { ...resource.ref, workspace: live } }));
  const differing = all.flatMap(({ resource, ref }) => {
    const there = resourceOf(current, ref);
    const body = promotedBody(resource);
    if (there && isWritten(there) && canonical(promotedBody(there)) === canonical(body)) return [];
    return [{ ref, body, basedOn: there?.number ?? null, resource }];
  });
  return { live, all, differing };
}

/** The resources of the live workspace that a promotion would write drafts of. Throws as {@link planPromotion} does. */
export async function promotedRefs(
  workspace: string,
  named: readonly NamedResource[] | undefined,
  { configuration }: Pick<PromotePorts, 'configuration'>,
): Promise<readonly ResourceRef[]> {
  return comparedWithLive(await configuration.refresh(), workspace, named).differing.map(({ ref }) => ref);
}

/** What a test environment has and its live workspace has not, matched by name. Nothing is written. */
export async function planPromotion(
  workspace: string,
  named: readonly NamedResource[] | undefined,
  ports: PromotePorts,
): Promise<Promotion> {
  const current = await ports.configuration.refresh();
  const { live, all, differing } = comparedWithLive(current, workspace, named);
  const open = new Map((await draftsOf(live, ports.drafts)).map((draft) => [resourceKey(draft.ref), draft]));
  const inTheWay = differing.flatMap(({ ref, body }) => {
    const draft = open.get(resourceKey(ref));
    return draft && !(draft.promotedFrom === workspace && canonical(draft.body) === canonical(body)) ? [draft] : [];
  });
  const blocked = new Set(inTheWay.map(({ ref }) => resourceKey(ref)));
  const wanted = differing.filter(({ ref }) => !blocked.has(resourceKey(ref)));
  const inTest = new Set(allOf(current, workspace).map(({ ref }) => resourceKey({ ...ref, workspace: live })));
  return {
    live,
    wanted: wanted.map(({ ref, body, basedOn }) => ({ ref, body, basedOn })),
    unchanged: all.length - differing.length,
    inTheWay,
    missing: await missingIn(live, wanted, current, ports),
    onlyLive: named ? [] : allOf(current, live).flatMap(({ ref }) => (inTest.has(resourceKey(ref)) ? [] : [ref])),
    plan: await planDraftsOver(current, wanted, ports),
  };
}

const allOf = (current: Configuration, workspace: string): readonly Resource<WrittenKind>[] =>
  PROMOTED.flatMap((kind) => listResources(current, kind, workspace));

function chosenResource(
  current: Configuration,
  workspace: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): Resource<WrittenKind> {
  const known = ON_DEMAND.find((one) => one === kind);
  if (!known) {
    const own = ['account', 'workspace', 'deployment', 'api_key'].includes(kind);
    const why = own ? `${kind.replace('_', ' ')}s are never promoted` : `there is no kind ${kind}`;
    throw new CarillonError('invalid_request', `${why}; ${insteadOf(kind, ON_DEMAND)}`);
  }
  const found = findResource(current, known, workspace, name);
  if (found) return found;
  const names = listResources(current, known, workspace).map(({ ref }) => ref.name);
  throw new CarillonError(
    'not_found',
    `there is no ${kind.replace('_', ' ')} ${name} in ${workspace}; ${insteadOf(name, names)}`,
  );
}

/** The body without what identifies it in its own workspace: what is there by its name keeps its ids and addresses. */
function promotedBody(resource: WantedResource): JsonObject {
  const body = JSON.parse(JSON.stringify(writtenBody(resource))) as JsonObject;
  if (!isKind(resource, 'notification')) return body;
  const { id: _id, ...rest } = body;
  const rules = Object.entries(resource.body.rules).map(([name, { id: _of, path: _path, ...rule }]) => [name, rule]);
  return { ...rest, rules: JSON.parse(JSON.stringify(Object.fromEntries(rules))) as JsonObject };
}

/** What the live workspace lacks of what nobody copies. */
async function missingIn(
  live: string,
  wanted: readonly { readonly ref: ResourceRef; readonly body: JsonObject; readonly resource: Resource<WrittenKind> }[],
  current: Configuration,
  { secrets }: PromotePorts,
): Promise<readonly Missing[]> {
  const coming = new Set(wanted.map(({ ref }) => resourceKey(ref)));
  const missing = new Map<string, { kind: string; name: string; neededBy: string[] }>();
  const lacks = (kind: string, name: string, { kind: of, name: by }: ResourceRef): void => {
    const known = missing.get(`${kind} ${name}`) ?? { kind, name, neededBy: [] };
    const who = `${of.replace('_', ' ')} ${by}`;
    if (!known.neededBy.includes(who)) known.neededBy.push(who);
    missing.set(`${kind} ${name}`, known);
  };
  const keys = new Set(listResources(current, 'api_key', live).map(({ ref }) => ref.name));
  const categories = findResource(current, 'workspace', live, '')?.body.categories ?? {};
  for (const { ref, body, resource } of wanted) {
    for (const { kind, name } of referencesOf(resource, current)) {
      const there = { kind, workspace: live, name };
      if (!resourceOf(current, there) && !coming.has(resourceKey(there))) lacks(kind, name, ref);
    }
    const { security, category } = body as { security?: { api_keys?: readonly string[] }; category?: string };
    for (const name of security?.api_keys ?? []) if (!keys.has(name)) lacks('api_key', name, ref);
    if (category !== undefined && !Object.hasOwn(categories, category)) lacks('category', category, ref);
    for (const name of secretsIn(body)) {
      const place = await secrets.locate(live, name);
      if (place === 'nowhere' || place === 'hidden') lacks('secret', name, ref);
    }
  }
  return [...missing.values()];
}

/** Names of the secrets that a body refers to. */
function secretsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secret } = value as { readonly secret?: unknown };
  return [...(typeof secret === 'string' ? [secret] : []), ...Object.values(value).flatMap(secretsIn)];
}

/**
 * Writes the drafts. One that somebody began meanwhile is left alone and told; what is written already stays as it is, so a promotion that
 * broke off is repeated as a whole.
 */
export async function writePromotion(
  workspace: string,
  { wanted }: Pick<Promotion, 'wanted'>,
  by: Actor,
  ports: PromotePorts,
): Promise<{ readonly written: readonly ResourceRef[]; readonly inTheWay: readonly Draft[] }> {
  const written: ResourceRef[] = [];
  const inTheWay: Draft[] = [];
  for (const { ref, body, basedOn } of wanted) {
    const there = await ports.drafts.find(ref);
    if (there) {
      const ours = there.promotedFrom === workspace && canonical(there.body) === canonical(body);
      if (ours && there.basedOn === basedOn) written.push(ref);
      else inTheWay.push(there);
      continue;
    }
    try {
      await saveDraft({ ref, body, basedOn, promotedFrom: workspace }, { revision: null }, by, ports);
      written.push(ref);
    } catch (error) {
      if (!isCarillonError(error) || error.code !== 'precondition_failed') throw error;
      const other = await ports.drafts.find(ref);
      if (other) inTheWay.push(other);
    }
  }
  return { written, inTheWay };
}
