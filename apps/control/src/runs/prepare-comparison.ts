import { findResource, type Configuration } from '@carillon/domain/configuration';
import type { CompareRun, RunChange } from '@carillon/domain/runs';
import { CarillonError } from '@carillon/kernel';
import { editOf, type ComparedConfigurations } from '@carillon/stages';
import type { Principal } from '../access/principal.ts';
import { proposedConfiguration, type Edit, type ProposedChange } from '../drafts/proposed.ts';
import { insteadOf, namesOf } from '../names.ts';
import type { ControlPorts } from '../ports.ts';
import { notFound } from '../routes/app.ts';
import { rangeOf } from './range.ts';
import type { AskedRun, PreparedRun, PrepareRunPorts, RunRequest } from './run-kind.ts';

/** Returns what a comparison fixes when it starts. */
export async function prepareComparison(
  { workspace, asked, principal, range }: AskedRun,
  ports: PrepareRunPorts,
): Promise<PreparedRun<'compare'>> {
  const { configurations, changes, leftOut, published, before } = await sidesOf(workspace, asked, principal, ports);
  const edit = editOf(configurations, workspace);
  const notifications = asked.notifications ? [...new Set(asked.notifications)].toSorted() : edit.notifications;
  refuseUnknown(notifications, workspace, configurations);
  return {
    range: await rangeOf(ports.log, range),
    published,
    own: {
      before,
      changes: changes.map(runChangeOf),
      notifications,
      notCompared: edit.notCompared,
      leftOut: leftOut.map(({ kind, name }) => ({ kind, name })),
      counts: null,
    },
    edit: changes.map(({ ref, based_on, body }) => ({ ref, based_on, body })),
  };
}

const runChangeOf = ({ ref, based_on: basedOn, body, revision }: ProposedChange): RunChange => ({
  ref,
  action: body === null ? 'delete' : basedOn === null ? 'create' : 'update',
  revision,
});

type Sides = {
  readonly configurations: ComparedConfigurations;
  readonly changes: readonly ProposedChange[];
  readonly leftOut: CompareRun['leftOut'];
  readonly published: number;
  readonly before: number;
};

async function sidesOf(
  workspace: string,
  asked: RunRequest,
  principal: Principal,
  ports: PrepareRunPorts,
): Promise<Sides> {
  if (asked.text !== undefined) {
    throw new CarillonError('invalid_request', 'text: only a search (kind find) takes a text', { pointer: '/text' });
  }
  const edit = editFrom(workspace, asked, principal);
  const published = await ports.configuration.refresh();
  refuseUnpublished(asked, published);
  const unedited = await configurationAt(asked.after, published, ports);
  const {
    current,
    configuration: after,
    changes,
    leftOut,
  } = edit
    ? await proposedConfiguration(edit, ports)
    : { current: unedited, configuration: unedited, changes: [], leftOut: [] };
  const before = asked.before ?? (edit ? current.number : beforeNewestChange(workspace, asked, current, ports));
  const old = await configurationAt(before, current, ports);
  return { configurations: { before: old, after }, changes, leftOut, published: current.number, before };
}

/** Throws `invalid_request` for a number that no configuration has. */
function refuseUnpublished(asked: RunRequest, { number: newest }: Configuration): void {
  for (const side of ['before', 'after'] as const) {
    if ((asked[side] ?? 0) <= newest) continue;
    const detail = `${side}: the newest configuration is ${newest}`;
    throw new CarillonError('invalid_request', detail, { pointer: `/${side}` });
  }
}

/** Returns the configuration of a number, or `known` if the number is left out. */
const configurationAt = async (
  number: number | undefined,
  known: Configuration,
  { configuration }: Pick<ControlPorts, 'configuration'>,
): Promise<Configuration> => (number === undefined || number === known.number ? known : configuration.at(number));

function editFrom(workspace: string, { after, drafts, folder }: RunRequest, { actor }: Principal): Edit | null {
  if (after !== undefined && (drafts || folder)) {
    throw new CarillonError('invalid_request', 'give an edit, or after: not both', { pointer: '/after' });
  }
  if (drafts && folder) throw new CarillonError('invalid_request', 'give a folder, or drafts: not both');
  if (folder) return { kind: 'folder', workspace, files: folder.files, prune: folder.prune };
  if (!drafts) return null;
  return { kind: 'drafts', workspace, isOwn: ({ by }) => by.kind === actor.kind && by.id === actor.id };
}

/** Number of the configuration before the newest change of the named notifications, or of all, up to `current`. */
function beforeNewestChange(
  workspace: string,
  { notifications }: RunRequest,
  current: Configuration,
  { configuration }: Pick<ControlPorts, 'configuration'>,
): number {
  const newest = configuration.history
    .publications()
    .findLast(
      ({ number, refs }) =>
        number <= current.number &&
        refs.some(
          ({ kind, name, workspace: owner }) =>
            owner === workspace && kind === 'notification' && (notifications?.includes(name) ?? true),
        ),
    );
  return Math.max(0, (newest?.number ?? current.number) - 1);
}

function refuseUnknown(names: readonly string[], workspace: string, { before, after }: ComparedConfigurations): void {
  for (const name of names) {
    if ([before, after].some((side) => findResource(side, 'notification', workspace, name))) continue;
    const known = [before, after].flatMap((side) => namesOf(side, 'notification')(workspace));
    throw notFound(`notification ${name} in workspace ${workspace}`, insteadOf(name, known));
  }
}
