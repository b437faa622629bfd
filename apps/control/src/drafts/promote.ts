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
  type Configuration,
  type Draft,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { Actor } from '@carillon/domain/people';
import { CarillonError, isCarillonError, type JsonObject } from '@carillon/kernel';
import { insteadOf } from '../names.ts';
import type { PlanningPorts } from '../ports.ts';
import type { ResourcesPlan } from '../resources/plan-resources.ts';
import { draftsOf, planDraftsOver } from './plan-drafts.ts';
import { demandRoom, draftBytes, saveDraft, type DraftPorts } from './save-draft.ts';
import { resourceOf } from './states.ts';

/**
 * Kinds that are copied between a workspace and its test environment by default. Other kinds name systems, credentials
 * and people.
 */
const PROMOTED = ['notification', 'template', 'layout', 'partial', 'stream'] as const satisfies readonly WrittenKind[];
/** Kinds that are copied only if the caller names them. */
const ON_DEMAND = [...PROMOTED, 'integration', 'jwt_provider'] as const satisfies readonly WrittenKind[];

export type Missing = { readonly kind: string; readonly name: string; readonly neededBy: readonly string[] };

/** A copy of resources from one workspace into another, as drafts: a promotion to live, or a copy of live into a test environment. */
export type Transfer = {
  readonly from: string;
  readonly to: string;
  /** The drafts to write in `to`, each with the number of the resource it is based on. */
  readonly wanted: readonly (Pick<Draft, 'ref' | 'basedOn'> & {
    readonly body: JsonObject;
    /** True if the resource in `to` was published after the one in `from`. */
    readonly isNewerThere: boolean;
  })[];
  readonly unchanged: number;
  readonly inTheWay: readonly Draft[];
  readonly missing: readonly Missing[];
  readonly onlyThere: readonly ResourceRef[];
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
  throw new CarillonError('wrong_state', `${workspace} is not a test environment; ${fix} into its workspace.yaml`);
}

export type NamedResource = { readonly kind: string; readonly name: string };

/** The resources that a caller chose. Without `resources`: all of the kinds in `PROMOTED`. */
export type Chosen = {
  readonly resources?: readonly NamedResource[] | undefined;
  /** Whether templates, layouts, partials and streams that the resources refer to are chosen too. */
  readonly withNeeds?: boolean | undefined;
};

type Direction = { readonly from: string; readonly to: string };

/** Compares resources of `from` with those of the same name in `to`. */
function compare(current: Configuration, { from, to }: Direction, { resources, withNeeds }: Chosen) {
  const named = resources?.map((resource) => chosenResource(current, from, resource));
  const chosen = named ? (withNeeds ? withNeedsOf(named, current) : named) : allOf(current, from);
  const all = chosen.map((resource) => ({ resource, ref: { ...resource.ref, workspace: to } }));
  const differing = all.flatMap(({ resource, ref }) => {
    const there = resourceOf(current, ref);
    const body = promotedBody(resource);
    if (there && isWritten(there) && canonical(promotedBody(there)) === canonical(body)) return [];
    const isNewerThere = there !== undefined && there.number > resource.number;
    return [{ ref, body, basedOn: there?.number ?? null, isNewerThere, resource }];
  });
  return { all, differing };
}

/** Returns the resources and, transitively, those of the kinds in `PROMOTED` that they refer to, each once. */
function withNeedsOf(
  named: readonly Resource<WrittenKind>[],
  current: Configuration,
): readonly Resource<WrittenKind>[] {
  const found = new Map(named.map((resource) => [resourceKey(resource.ref), resource]));
  // A map visits entries that are added during the loop, so needs of needs are found too.
  for (const resource of found.values()) {
    for (const { kind, workspace, name } of referencesOf(resource, current)) {
      const known = PROMOTED.find((promoted) => promoted === kind);
      const needed = known && findResource(current, known, workspace, name);
      if (needed && !found.has(resourceKey(needed.ref))) found.set(resourceKey(needed.ref), needed);
    }
  }
  return [...found.values()];
}

/** Returns the drafts that a promotion would write in the live workspace. Throws as {@link planPromotion} does. */
export async function promotedDrafts(
  workspace: string,
  resources: readonly NamedResource[] | undefined,
  { configuration }: Pick<PromotePorts, 'configuration'>,
): Promise<Transfer['wanted']> {
  const current = await configuration.refresh();
  const direction = { from: workspace, to: liveOf(current, workspace) };
  return compare(current, direction, { resources }).differing;
}

/** Throws `wrong_state`, with the size, if their workspace has no room for those of these drafts that are not there yet. */
export async function demandRoomForAll(wanted: Transfer['wanted'], ports: Pick<PromotePorts, 'drafts'>): Promise<void> {
  const added = { drafts: 0, bytes: 0 };
  for (const { ref, body } of wanted) {
    if (await ports.drafts.find(ref)) continue;
    added.drafts += 1;
    added.bytes += draftBytes(body);
  }
  const [first] = wanted;
  if (first) await demandRoom(first.ref.workspace, added, ports);
}

/** Plans drafts in the live workspace of what its test environment `workspace` has otherwise. Writes nothing. */
export async function planPromotion(workspace: string, chosen: Chosen, ports: PromotePorts): Promise<Transfer> {
  const current = await ports.configuration.refresh();
  return planTransfer(current, { from: workspace, to: liveOf(current, workspace) }, chosen, ports);
}

/** Plans drafts in the test environment `workspace` of what its live workspace has otherwise. Writes nothing. */
export async function planCopy(workspace: string, chosen: Chosen, ports: PromotePorts): Promise<Transfer> {
  const current = await ports.configuration.refresh();
  return planTransfer(current, { from: liveOf(current, workspace), to: workspace }, chosen, ports);
}

async function planTransfer(
  current: Configuration,
  direction: Direction,
  chosen: Chosen,
  ports: PromotePorts,
): Promise<Transfer> {
  const { from, to } = direction;
  const { all, differing } = compare(current, direction, chosen);
  const open = new Map((await draftsOf(to, ports)).map((draft) => [resourceKey(draft.ref), draft]));
  const inTheWay = differing.flatMap(({ ref, body }) => {
    const draft = open.get(resourceKey(ref));
    return draft && !(draft.promotedFrom === from && canonical(draft.body) === canonical(body)) ? [draft] : [];
  });
  const blocked = new Set(inTheWay.map(({ ref }) => resourceKey(ref)));
  const wanted = differing.filter(({ ref }) => !blocked.has(resourceKey(ref)));
  const source = new Set(allOf(current, from).map(({ ref }) => resourceKey({ ...ref, workspace: to })));
  return {
    from,
    to,
    wanted: wanted.map(({ resource: _resource, ...draft }) => draft),
    unchanged: all.length - differing.length,
    inTheWay,
    missing: await missingIn(to, wanted, current, ports),
    onlyThere: chosen.resources
      ? []
      : allOf(current, to).flatMap(({ ref }) => (source.has(resourceKey(ref)) ? [] : [ref])),
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
    const why = own ? `${kind.replace('_', ' ')}s are never copied` : `there is no kind ${kind}`;
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

/** The resources that `to` lacks and that are not copied. */
async function missingIn(
  to: string,
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
  const keys = new Set(listResources(current, 'api_key', to).map(({ ref }) => ref.name));
  const categories = findResource(current, 'workspace', to, '')?.body.categories ?? {};
  for (const { ref, body, resource } of wanted) {
    for (const { kind, name } of referencesOf(resource, current)) {
      const there = { kind, workspace: to, name };
      if (!resourceOf(current, there) && !coming.has(resourceKey(there))) lacks(kind, name, ref);
    }
    const { security, category } = body as { security?: { api_keys?: readonly string[] }; category?: string };
    for (const name of security?.api_keys ?? []) if (!keys.has(name)) lacks('api_key', name, ref);
    if (category !== undefined && !Object.hasOwn(categories, category)) lacks('category', category, ref);
    for (const name of secretsIn(body)) {
      const place = await secrets.locate(to, name);
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
 * Writes the drafts of a transfer. Throws `wrong_state` before the first draft if the workspace has no room for all.
 * Drafts that others began meanwhile stay unchanged and are returned in `inTheWay`. Drafts of an earlier try are kept,
 * so an interrupted transfer can be repeated as a whole.
 */
export async function writeTransfer(
  { from, wanted }: Pick<Transfer, 'from' | 'wanted'>,
  by: Actor,
  ports: PromotePorts,
): Promise<{ readonly written: readonly ResourceRef[]; readonly inTheWay: readonly Draft[] }> {
  const written: ResourceRef[] = [];
  const inTheWay: Draft[] = [];
  await demandRoomForAll(wanted, ports);
  for (const { ref, body, basedOn } of wanted) {
    const there = await ports.drafts.find(ref);
    if (there) {
      const ours = there.promotedFrom === from && canonical(there.body) === canonical(body);
      if (ours && there.basedOn === basedOn) written.push(ref);
      else inTheWay.push(there);
      continue;
    }
    try {
      await saveDraft({ ref, body, basedOn, promotedFrom: from }, { revision: null }, by, ports);
      written.push(ref);
    } catch (error) {
      if (!isCarillonError(error) || error.code !== 'precondition_failed') throw error;
      const other = await ports.drafts.find(ref);
      if (other) inTheWay.push(other);
    }
  }
  return { written, inTheWay };
}
