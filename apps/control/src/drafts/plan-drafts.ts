import type { GivenResource, WrittenKind } from '@carillon/configuration';
import type { Configuration, Draft, ResourceRef } from '@carillon/domain/configuration';
import type { Coroutine, JsonObject } from '@carillon/kernel';
import type { DraftStore, EventLoopSlice } from '@carillon/ports';
import { runYielding } from '@carillon/stages';
import { diffResources } from '../resources/versions.ts';
import {
  planBodiesOver,
  withHiddenSecrets,
  type ResourcesPlan,
  type ResourcesRequest,
} from '../resources/plan-resources.ts';
import type { PlanningPorts } from '../ports.ts';
import { resourceOf } from './states.ts';

/** Drafts that are read between two turns of the event loop: each may hold some 100 KB. */
const PAGE_SIZE = 20;

/** All drafts of a workspace. */
export async function draftsOf(
  workspace: string,
  { drafts, slice }: { readonly drafts: Pick<DraftStore, 'list'>; readonly slice: EventLoopSlice },
): Promise<readonly Draft[]> {
  const all: Draft[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await drafts.list(workspace, PAGE_SIZE, cursor);
    all.push(...page.items);
    if (page.next === null) return all;
    cursor = page.next;
    if (slice.isExpired()) await slice.yield();
  }
}

type DraftedChange = Pick<Draft, 'ref' | 'body'>;

/** Plans the publication of these drafts over a configuration, ignoring the number they are based on. */
export const planDraftsOver = async (
  current: Configuration,
  drafts: readonly DraftedChange[],
  ports: PlanningPorts,
): Promise<ResourcesPlan> => withHiddenSecrets(await planDraftBodies(current, drafts, ports), ports);

/** Plans as `planDraftsOver` does, without warnings about secrets: the result depends on its arguments alone. */
export const planDraftBodies = (
  current: Configuration,
  drafts: readonly DraftedChange[],
  ports: PlanningPorts,
): Promise<ResourcesPlan> => planBodiesOver(current, requestOf(current, drafts), ports);

function requestOf(current: Configuration, drafts: readonly DraftedChange[]): ResourcesRequest {
  const refOf = ({ ref }: DraftedChange) => ref as ResourceRef<WrittenKind>;
  const put = drafts.flatMap((draft): GivenResource[] =>
    draft.body === null ? [] : [{ ref: refOf(draft), body: draft.body }],
  );
  // A resource that is already removed needs no removal.
  const remove = drafts.filter(({ body, ref }) => body === null && resourceOf(current, ref)).map(refOf);
  return { put, remove };
}

/** Bodies of notifications before and after their drafts. The portal describes the difference in sentences. */
export const bodiesOf = (drafts: readonly Pick<Draft, 'ref' | 'body'>[], current: Configuration) =>
  drafts
    .filter(({ ref }) => ref.kind === 'notification')
    .map(({ ref, body }) => ({
      kind: ref.kind,
      name: ref.name,
      before: (resourceOf(current, ref)?.body ?? null) as JsonObject | null,
      after: body,
    }));

type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Returns the files that a plan changes. */
export const filesOf = (plan: ResourcesPlan, slice: EventLoopSlice): Promise<ChangedFile[]> =>
  Promise.resolve(runYielding(filesCoroutine(plan), slice));

/** Yields after each resource. */
function* filesCoroutine({ changes, current }: ResourcesPlan): Coroutine<ChangedFile[]> {
  const files: ChangedFile[] = [];
  for (const { ref, body } of changes) {
    const before = resourceOf(current, ref) ?? null;
    const facts = { number: current.number, version: 0, ruleVersions: {} };
    files.push(...diffResources(before, body === null ? null : { ref, body, ...facts }).files);
    yield;
  }
  return files;
}
