import {
  planChanges,
  readConfigurationFolder,
  type FileFault,
  type FileWarning,
  type WantedResource,
} from '@carillon/configuration';
import { type AppliedBody, type FaultBody, type PlanBody } from '@carillon/contracts';
import {
  findResource,
  type ChangeOrigin,
  type Configuration,
  type ResourceChange,
} from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { repeatMarkers, type ConfigurationHistory } from '@carillon/stages';
import { insteadOf } from './names.ts';
import { planWanted } from './planning.ts';
import { conflictsAfter } from './drafts/after-a-change.ts';
import type { ControlPorts, PlanningPorts, PublishingPorts } from './ports.ts';
import { publishChanges } from './resources/publish-changes.ts';
import { hiddenSecretWarnings } from './secret-places.ts';

export type FolderRequest = {
  readonly files: Readonly<Record<string, string>>;
  readonly prune: boolean;
  /** The one workspace that this is about; left out: the whole deployment. */
  readonly workspace?: string | undefined;
  /**
   * Number of the configuration on which the author based the change. If undefined, the change overwrites concurrent
   * changes.
   */
  readonly based_on?: number | undefined;
};

type Planned = { readonly body: PlanBody; readonly changes: readonly ResourceChange[] };

/**
 * Plans the changes of a folder. Returns all mistakes at once, or the changes with the number that they are based on.
 */
export const planFolder = async (request: FolderRequest, ports: PlanningPorts): Promise<Planned> =>
  planFolderOver(await ports.configuration.refresh(), request, ports);

/**
 * Plans the part of a folder that is about one workspace. Files of other workspaces are left out, and mistakes name no resource of
 * them. Throws `invalid_request` if the folder holds nothing of the workspace.
 */
export function planFolderPart(
  current: Configuration,
  { files, prune, workspace }: FolderRequest & { readonly workspace: string },
  ports: PlanningPorts,
): Promise<Planned> {
  demandWorkspace(firstFiles(Object.keys(files)), workspace);
  const own = Object.entries(files).filter(([path]) => [undefined, workspace].includes(workspaceOfFile(path)));
  return planFolderOver(partOf(current, workspace), { files: Object.fromEntries(own), prune, workspace }, ports);
}

/** Returns the configuration with the resources of one workspace only, and of the workspace that it tests. */
function partOf(current: Configuration, workspace: string): Configuration {
  const live = findResource(current, 'workspace', workspace, '')?.body.of;
  const resources = [...current.resources].filter(
    ([, { ref }]) => ['', workspace].includes(ref.workspace) || (ref.kind === 'workspace' && ref.workspace === live),
  );
  return { ...current, resources: new Map(resources) };
}

/** Does the work of `planFolder` over a configuration that was read already. */
export async function planFolderOver(
  current: Configuration,
  { files, prune, workspace }: FolderRequest,
  ports: PlanningPorts,
): Promise<Planned> {
  const others = workspace === undefined ? [] : strangers(Object.keys(files), workspace);
  const reading = readConfigurationFolder(new Map(Object.entries(files)), {
    language: ports.expressions,
    templates: ports.templates,
    current,
  });
  const hidden = await hiddenSecretWarnings(reading.resources, ports.secrets);
  const told = [...reading.warnings, ...hidden.map(reading.warningAt)];
  const shown = { number: current.number, warnings: told.map(warningBody), changes: [], unchanged: 0 };
  const faults = [...others, ...reading.faults];
  if (faults.length > 0) return { body: { ...shown, faults }, changes: [] };
  const planned = await planWanted(reading.resources, current, { prune, workspace }, ports);
  const body: PlanBody = {
    ...shown,
    warnings: [
      ...told,
      ...planned.warnings.map(reading.warningAt),
      ...(workspace === undefined ? [] : leftOut(current, reading.resources, ports)),
    ].map(warningBody),
    faults: planned.faults.map(reading.faultAt),
    changes: planned.shown,
    unchanged: planned.unchanged,
  };
  return { body, changes: planned.record };
}

/**
 * Returns a mistake for each other workspace in the folder, if only one is applied. Throws `invalid_request` if the
 * folder does not have the named workspace.
 */
function strangers(paths: readonly string[], workspace: string): FileFault[] {
  const firsts = firstFiles(paths);
  demandWorkspace(firsts, workspace);
  return [...firsts].flatMap(([name, file]) =>
    name === workspace
      ? []
      : [
          {
            file,
            path: '',
            line: 1,
            column: 1,
            message: `this is workspace ${name}, and only ${workspace} is to be applied`,
            expected: `a folder with workspace ${workspace} alone`,
            fix: 'name no workspace (--workspace, CARILLON_WORKSPACE) to apply the whole folder, or apply a folder without it',
          },
        ],
  );
}

/** The workspace that a file of a folder belongs to. Undefined for a file of the deployment. */
function workspaceOfFile(path: string): string | undefined {
  const [top, name] = path.split('/');
  return top === 'workspaces' ? name : undefined;
}

/** The first file of each workspace in a folder, by the name of the workspace. */
function firstFiles(paths: readonly string[]): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>();
  for (const path of paths.toSorted()) {
    const name = workspaceOfFile(path);
    if (name && !firsts.has(name)) firsts.set(name, path);
  }
  return firsts;
}

function demandWorkspace(firsts: ReadonlyMap<string, string>, workspace: string): void {
  if (firsts.has(workspace)) return;
  throw new CarillonError(
    'invalid_request',
    `workspace: the folder has no workspace ${workspace}; ${insteadOf(workspace, [...firsts.keys()])}`,
  );
}

/** The deployment's own file, where it says something that is not put into force with one workspace. */
function leftOut(
  current: Configuration,
  resources: readonly WantedResource[],
  { ids, expressions, templates }: PlanningPorts,
): readonly FileWarning[] {
  const options = { prune: false, workspace: '', newId: (kind: 'notification' | 'rule') => ids.random(kind) };
  const { record } = planChanges(current, resources, { ...options, language: expressions, templates });
  if (record.length === 0) return [];
  const message = 'changes in carillon.yaml were skipped because one workspace was selected';
  return [
    {
      file: 'carillon.yaml',
      path: '',
      line: 1,
      column: 1,
      message,
      fix: 'run apply without --workspace and CARILLON_WORKSPACE to include them',
    },
  ];
}

const warningBody = (warning: FileWarning): FaultBody => ({ ...warning, expected: '' });

/** Names of what moved that a refusal gives. */
const MAX_NAMED = 5;

/** Throws `conflict` where something of this was changed after the number that the author has seen. */
function demandSeen(seen: number | undefined, changes: readonly ResourceChange[], history: ConfigurationHistory): void {
  if (seen === undefined) return;
  const moved = changes.flatMap(({ ref }) => {
    const newest = history.statesOf(ref).at(-1)?.publication;
    if (newest === undefined || newest.number <= seen) return [];
    return [
      `${ref.kind} ${ref.workspace}/${ref.name} (by ${newest.by.actor.kind} ${newest.by.actor.id} at ${newest.at})`,
    ];
  });
  if (moved.length === 0) return;
  const more = moved.length > MAX_NAMED ? ` and ${moved.length - MAX_NAMED} more` : '';
  throw new CarillonError(
    'conflict',
    `after number ${seen} another person changed ${moved.slice(0, MAX_NAMED).join(', ')}${more}; export again, or review the plan and apply with its number`,
  );
}

/**
 * Applies a folder, or nothing if it has a mistake. Resolves when every role uses the new configuration. A folder
 * without changes repeats the markers, which completes the work of a crashed publisher. `allowed` throws if the author
 * may not make these changes. Drafts stay; the result names those in conflict.
 */
export async function applyFolder(
  request: FolderRequest,
  by: ChangeOrigin,
  ports: PlanningPorts & PublishingPorts & Pick<ControlPorts, 'drafts' | 'watch'>,
  allowed: (changes: readonly ResourceChange[], current: Configuration) => void = () => undefined,
): Promise<AppliedBody> {
  const { body, changes } = await planFolder(request, ports);
  const nothing = { ...body, applied: false, new_number: null, draft_conflicts: [] };
  if (body.faults.length > 0) return nothing;
  if (changes.length === 0) {
    if (body.number >= 0) await repeatMarkers(ports.log, body.number);
    return nothing;
  }
  allowed(changes, ports.configuration.current());
  demandSeen(request.based_on, changes, ports.configuration.history);
  const number = await publishChanges(changes, by, ports);
  return { ...body, applied: true, new_number: number, ...(await conflictsAfter(changes, ports)) };
}
