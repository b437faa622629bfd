import type { GivenResource, ResourceFault } from '@carillon/configuration';
import {
  foldConfiguration,
  resourceKey,
  type Configuration,
  type Draft,
  type ResourceChange,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { planFolderOver, planFolderPart } from '../configuration.ts';
import type { ControlPorts, PlanningPorts } from '../ports.ts';
import { faultBody } from '../resources/publish-resources.ts';
import { planResourcesOver, type ResourcesPlan } from '../resources/plan-resources.ts';
import { draftsOf, planDraftsOver } from './plan-drafts.ts';

/** An edit that is not published. */
export type Edit =
  /** The drafts of a workspace. Drafts with mistakes are left out, unless `isOwn` returns true for one of them. */
  | { readonly kind: 'drafts'; readonly workspace: string; readonly isOwn: (draft: Draft) => boolean }
  /** A folder. With `workspace` its files of other workspaces are left out. */
  | {
      readonly kind: 'folder';
      readonly workspace?: string;
      readonly files: Readonly<Record<string, string>>;
      readonly prune: boolean;
    }
  /** Bodies that take the place of others. Their mistakes are returned. */
  | { readonly kind: 'bodies'; readonly put: readonly GivenResource[]; readonly over: Configuration };

/** A changed resource. `revision` is that of its draft; null for a folder or a body. */
export type ProposedChange = ResourceChange & { readonly revision: string | null };

export type Proposed = {
  /** The configuration that the edit was applied to. */
  readonly current: Configuration;
  /** The configuration as publishing the edit would make it. The same object as `current` if the edit changes nothing. */
  readonly configuration: Configuration;
  readonly changes: readonly ProposedChange[];
  /** Drafts of other people that have mistakes. */
  readonly leftOut: readonly ResourceRef[];
  /** Mistakes in bodies; empty for other edits, which reject. */
  readonly faults: readonly ResourceFault[];
};

/** Mistakes named in one refusal. */
const MAX_NAMED = { drafts: 5, folder: 10 } as const;

/**
 * Applies an edit without publishing it. Rejects with CarillonError `invalid_configuration` for mistakes in a folder and in own
 * drafts, and with `conflict` if the configuration changed meanwhile. Ids of new notifications and rules follow from their names, so
 * that the same edit always gives the same configuration. Publishing the edit gives them other ids.
 */
export async function proposedConfiguration(
  edit: Edit,
  given: PlanningPorts & Pick<ControlPorts, 'drafts'>,
): Promise<Proposed> {
  const newId: PlanningPorts['newId'] = (kind, ...names) => given.ids.derive(kind, 'proposed', ...names);
  const ports = { ...given, newId };
  if (edit.kind === 'drafts') return proposedByDrafts(edit, ports);
  if (edit.kind === 'folder') return proposedByFolder(edit, ports);
  const { faults, record } = await planResourcesOver(edit.over, { put: edit.put, remove: [] }, ports);
  return { ...applied(edit.over, record), faults };
}

async function proposedByDrafts(
  { workspace, isOwn }: Extract<Edit, { kind: 'drafts' }>,
  ports: PlanningPorts & Pick<ControlPorts, 'drafts'>,
): Promise<Proposed> {
  const current = await ports.configuration.refresh();
  const all = await draftsOf(workspace, ports);
  let drafts = all;
  for (;;) {
    const plan = await planDraftsOver(current, drafts, ports);
    if (plan.faults.length === 0) {
      const revisions = new Map(drafts.map(({ ref, revision }) => [resourceKey(ref), revision]));
      const leftOut = all.filter(({ ref }) => !revisions.has(resourceKey(ref))).map(({ ref }) => ref);
      return { ...applied(current, plan.record, revisions), leftOut };
    }
    const wrong = new Set(plan.faults.map(({ ref }) => resourceKey(ref)));
    const own = new Set(drafts.filter(isOwn).map(({ ref }) => resourceKey(ref)));
    const ownFaults = plan.faults.filter(({ ref }) => own.has(resourceKey(ref)));
    const rest = drafts.filter(({ ref }) => !wrong.has(resourceKey(ref)));
    if (ownFaults.length > 0 || rest.length === drafts.length) {
      throw invalidDrafts(ownFaults.length > 0 ? ownFaults : plan.faults);
    }
    drafts = rest;
  }
}

function invalidDrafts(faults: ResourcesPlan['faults']): CarillonError {
  const named = faults.slice(0, MAX_NAMED.drafts);
  const lines = named.map(({ path, message, fix }) => `${path === '' ? '' : `${path}: `}${message}; ${fix}`);
  return new CarillonError('invalid_configuration', lines.join('\n'), { faults: named.map(faultBody) });
}

async function proposedByFolder(
  { files, prune, workspace }: Extract<Edit, { kind: 'folder' }>,
  ports: PlanningPorts,
): Promise<Proposed> {
  const current = await ports.configuration.refresh();
  const { body, changes } =
    workspace === undefined
      ? await planFolderOver(current, { files, prune }, ports)
      : await planFolderPart(current, { files, prune, workspace }, ports);
  if (body.faults.length > 0) {
    const named = body.faults
      .slice(0, MAX_NAMED.folder)
      .map(({ file, line, column, message, fix }) => `${file}:${line}:${column} ${message}; ${fix}`);
    throw new CarillonError('invalid_configuration', named.join('\n'));
  }
  return applied(current, changes);
}

function applied(
  current: Configuration,
  record: readonly ResourceChange[],
  revisions: ReadonlyMap<string, string> = new Map(),
): Proposed {
  const changes = record.map((change) => ({ ...change, revision: revisions.get(resourceKey(change.ref)) ?? null }));
  if (record.length === 0) return { current, configuration: current, changes, leftOut: [], faults: [] };
  const { configuration, voided } = foldConfiguration(current, { changes: record }, current.number + 1);
  if (voided.length > 0) throw new CarillonError('conflict', 'the configuration changed meanwhile; try again');
  return { current, configuration, changes, leftOut: [], faults: [] };
}
