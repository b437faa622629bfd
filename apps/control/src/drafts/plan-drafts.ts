import type { GivenResource, WrittenKind } from '@carillon/configuration';
import type { Configuration, Draft, ResourceRef } from '@carillon/domain';
import type { DraftStore } from '@carillon/ports';
import { diffResources } from '../resources/versions.ts';
import {
  planBodiesOver,
  withHiddenSecrets,
  type ResourcesPlan,
  type ResourcesRequest,
} from '../resources/plan-resources.ts';
import type { PlanningPorts } from '../ports.ts';
import { resourceOf } from './states.ts';

const PAGE = 200;

/** All drafts of a workspace. */
export async function draftsOf(workspace: string, drafts: Pick<DraftStore, 'list'>): Promise<readonly Draft[]> {
  const all: Draft[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await drafts.list(workspace, PAGE, cursor);
    all.push(...page.items);
    if (page.next === null) return all;
    cursor = page.next;
  }
}

type DraftedChange = Pick<Draft, 'ref' | 'body'>;

/** What publishing these drafts together would make of a configuration, whatever they are based on. */
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
  // What is gone already needs no removing.
  const remove = drafts.filter(({ body, ref }) => body === null && resourceOf(current, ref)).map(refOf);
  return { put, remove };
}

type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** The files that a plan changes. */
export function filesOf({ changes, current }: ResourcesPlan): ChangedFile[] {
  return changes.flatMap(({ ref, body }) => {
    const before = resourceOf(current, ref) ?? null;
    const facts = { number: current.number, version: 0, ruleVersions: {} };
    return diffResources(before, body === null ? null : { ref, body, ...facts }).files;
  });
}
