import type { z } from 'zod';
import type { runRequest } from '@carillon/contracts';
import { findResource, type Configuration } from '@carillon/domain/configuration';
import { DEFAULT_RUN_RANGE, type Run, type RunChange } from '@carillon/domain/runs';
import { CarillonError, type JobId, type RunId } from '@carillon/kernel';
import { editOf, narrowRuleBook, rulesWithState, type ComparedConfigurations } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { principalOf, type Principal } from '../access/principal.ts';
import { audited } from '../audit/facts.ts';
import { proposedConfiguration, type Edit, type ProposedChange } from '../drafts/proposed.ts';
import { startJob } from '../jobs/start.ts';
import { compareHistory } from '../jobs/kinds/compare-history.ts';
import type { ControlPorts, PlanningPorts, RoutePorts } from '../ports.ts';
import { insteadOf, namesOf } from '../names.ts';
import { notFound, readRange } from '../routes/app.ts';
import { rangeOf } from './range.ts';

export type StartRunPorts = PlanningPorts &
  Pick<RoutePorts, 'book' | 'clock' | 'comparison' | 'drafts' | 'ids' | 'jobs' | 'log' | 'runs'>;

/** Runs of a workspace that may wait or be under way. */
const MAX_UNFINISHED = 5;

type RunRequest = z.infer<typeof runRequest>;

/** Stores a run and the job that executes it. */
export async function startRun(
  request: FastifyRequest,
  workspace: string,
  asked: RunRequest,
  ports: StartRunPorts,
): Promise<Run> {
  if (!ports.comparison) {
    throw new CarillonError('wrong_state', 'a run compares on the embedded backend only, and this is a cluster');
  }
  await refuseTooMany(workspace, ports);
  const now = ports.clock.now();
  const { since, before: to = now } = readRange(asked, now);
  const range = { from: since ?? to - DEFAULT_RUN_RANGE, to: Math.min(to, now) };
  const { configurations, changes, leftOut, published, before } = await sidesOf(
    workspace,
    asked,
    principalOf(request),
    ports,
  );
  const edit = editOf(configurations, workspace);
  const notifications = asked.notifications ? [...new Set(asked.notifications)].toSorted() : edit.notifications;
  refuseUnknown(notifications, workspace, configurations);
  refuseRulesWithState(notifications, workspace, configurations, ports);
  const { offsets, records, logStartsAt } = await rangeOf(ports.log, range);
  const run: Run = {
    ...range,
    id: ports.ids.random('run') as RunId,
    workspace,
    kind: 'compare',
    by: principalOf(request).actor,
    logStartsAt,
    logId: ports.log.logId,
    offsets,
    before,
    published,
    changes: changes.map(runChangeOf),
    notifications,
    notCompared: edit.notCompared,
    leftOut: leftOut.map(({ kind, name }) => ({ kind, name })),
    progress: { read: 0, total: records },
    counts: null,
    checksum: null,
    job: ports.ids.random('job') as JobId,
    createdAt: now,
    version: 1,
  };
  await ports.runs.insert(
    run,
    changes.map(({ ref, based_on, body }) => ({ ref, based_on, body })),
  );
  const work = { action: compareHistory.action, run: run.id };
  await startJob(request, { id: run.job, workspace, work, items: [run.id] }, ports);
  audited(request, { target: run.id });
  return run;
}

const runChangeOf = ({ ref, based_on: basedOn, body, revision }: ProposedChange): RunChange => ({
  ref,
  action: body === null ? 'delete' : basedOn === null ? 'create' : 'update',
  revision,
});

/** Runs are executed one after the other, so the runs of one workspace may not hold up the others for hours. */
async function refuseTooMany(workspace: string, { jobs }: Pick<StartRunPorts, 'jobs'>): Promise<void> {
  const unfinished = { workspace, states: ['waiting', 'running'], actions: [compareHistory.action] } as const;
  const { items } = await jobs.list(unfinished, MAX_UNFINISHED);
  if (items.length < MAX_UNFINISHED) return;
  throw new CarillonError(
    'wrong_state',
    `${MAX_UNFINISHED} runs of this workspace have not ended: wait until a run ends, or cancel a run`,
  );
}

type Sides = {
  readonly configurations: ComparedConfigurations;
  readonly changes: readonly ProposedChange[];
  readonly leftOut: Run['leftOut'];
  readonly published: number;
  readonly before: number;
};

async function sidesOf(
  workspace: string,
  asked: RunRequest,
  principal: Principal,
  ports: StartRunPorts,
): Promise<Sides> {
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

function refuseRulesWithState(
  names: readonly string[],
  workspace: string,
  configurations: ComparedConfigurations,
  { book }: Pick<StartRunPorts, 'book'>,
): void {
  const narrowed = narrowRuleBook(
    book,
    (placed) => placed.workspace === workspace && names.includes(placed.notification.ref.name),
  );
  const [first, ...others] = rulesWithState(configurations, narrowed);
  if (first === undefined) return;
  const titles = [first, ...others].join(', ');
  throw new CarillonError(
    'wrong_state',
    `rules that keep state cannot be compared: ${titles}. Name the other notifications under notifications`,
  );
}
