import {
  describeSource,
  describeTable,
  describeWaiting,
  postgresPosition,
  type SourceKind,
  type SourceProblem,
  type WaitingReason,
} from '@carillon/domain/changes';
import {
  integrationSecrets,
  listResources,
  tablesOf,
  type Configuration,
  type DatabaseIntegration,
  type SourceIntegration,
} from '@carillon/domain/configuration';
import { err, formatDuration, ok } from '@carillon/kernel';
import type { ChangeSources, SourceCheck, SourceTarget, StoredSource, TableCheck } from '@carillon/ports';
import { missingColumns } from './missing-columns.ts';
import type { Check, ControlPorts } from './ports.ts';
import { CHECK_TIMEOUT } from './routes/configuration/cohorts.ts';
import { missingSecret } from './secret-places.ts';

export type SourceRef = { readonly workspace: string; readonly integration: string };
/** A source with its secrets, or a sentence for each secret that is not set. */
export type Found<Target> = { readonly target: Target } | { readonly missing: readonly string[] };

/** Makes a target of the values of secrets, which it asks for by name. Every secret that is not set is reported. */
export async function withSecrets<Target>(
  workspace: string,
  body: SourceIntegration,
  { secrets }: Pick<ControlPorts, 'secrets'>,
  make: (valueOf: (name: string) => string) => Target,
): Promise<Found<Target>> {
  const values = new Map<string, string>();
  const missing: string[] = [];
  for (const name of new Set(integrationSecrets(body))) {
    const value = await secrets.resolve(workspace, name);
    if (value === null) missing.push(await missingSecret(workspace, name, secrets));
    else values.set(name, value);
  }
  return missing.length > 0 ? { missing } : { target: make((name) => values.get(name) ?? '') };
}

export const findTarget = (
  { workspace, integration }: SourceRef,
  body: DatabaseIntegration,
  ports: Pick<ControlPorts, 'secrets'>,
): Promise<Found<SourceTarget>> =>
  withSecrets(workspace, body, ports, (valueOf) => ({
    workspace,
    integration,
    url: valueOf(body.url.secret),
    ca: body.tls === undefined ? null : valueOf(body.tls.ca.secret),
  }));

export const LATE: SourceProblem<WaitingReason> = {
  reason: 'unreachable',
  detail: `No answer arrived within ${formatDuration(CHECK_TIMEOUT)}, the limit of a check.`,
  fix: null,
};
const UNANSWERED: SourceCheck = { server: null, problems: [LATE], warnings: [], tables: [] };

/** Resolves as `work` does, or to `otherwise` if the deadline comes first. */
export function before<Value>(deadline: AbortSignal, work: Promise<Value>, otherwise: Value): Promise<Value> {
  const late = new Promise<Value>((resolve) => {
    if (deadline.aborted) resolve(otherwise);
    else deadline.addEventListener('abort', () => resolve(otherwise), { once: true });
  });
  return Promise.race([work, late]);
}

/** Returns the tables of a database, or why they could not be read before the deadline. */
export const readTables = (
  changeSources: Pick<ChangeSources, 'tables'>,
  target: SourceTarget,
  deadline = AbortSignal.timeout(CHECK_TIMEOUT),
): ReturnType<ChangeSources['tables']> => before(deadline, changeSources.tables(target), err(LATE));

/** Looks at a database as the engine would, and says what keeps it from being read. Changes nothing there. */
export async function checkDatabase(
  body: DatabaseIntegration,
  ref: SourceRef & { readonly configuration: Configuration },
  ports: Pick<ControlPorts, 'secrets' | 'changeSources' | 'sources'>,
): Promise<Check[]> {
  const steps = [kindStep(body)];
  const found = await findTarget(ref, body, ports);
  if ('missing' in found) return [...steps, ...found.missing.map(secretStep)];
  const changeSources = await ports.changeSources();
  const streams = streamsReading(ref, ref.configuration);
  const names = [...new Set(streams.flatMap((stream) => tablesOf(stream).map(({ table }) => table)))];
  const slots = (await ports.sources.list()).flatMap(({ position }) => postgresPosition(position)?.slot ?? []);
  const deadline = AbortSignal.timeout(CHECK_TIMEOUT);
  const [checked, tables] = await Promise.all([
    before(deadline, changeSources.check(found.target, names, slots), UNANSWERED),
    names.length === 0 ? ok([]) : readTables(changeSources, found.target, deadline),
  ]);
  const missing = checked.problems.length === 0 && tables.ok ? missingColumns(streams, tables.value) : [];
  return [...steps, ...checkSteps(checked), ...missing.map((detail) => ({ step: 'warning', ok: true, detail }))];
}

export const kindStep = ({ kind }: SourceIntegration): Check => ({
  step: 'integration',
  ok: true,
  detail: `kind ${kind}`,
});

export const secretStep = (detail: string): Check => ({ step: 'secret', ok: false, detail });

/** Returns the server that was reached, and what a reader would wait for. */
export const serverSteps = (
  kind: SourceKind,
  { server, problems }: Pick<SourceCheck, 'server' | 'problems'>,
): readonly Check[] => [
  ...(server === null ? [] : [{ step: 'server', ok: true, detail: server }]),
  ...problems.map((problem) => ({
    step: problem.reason,
    ok: false,
    detail: describeWaiting(kind, problem),
    fix: problem.fix,
  })),
];

function checkSteps({ warnings, tables, ...server }: SourceCheck): Check[] {
  return [
    ...serverSteps('postgres', server),
    ...warnings.map(({ detail, fix }) => ({ step: 'warning', ok: true, detail, fix })),
    ...tables.map(tableStep),
  ];
}

/** Returns the streams that read an integration. */
export const streamsReading = ({ workspace, integration }: SourceRef, configuration: Configuration) =>
  listResources(configuration, 'stream', workspace).flatMap(({ ref: { name }, body: { from, time = null } }) =>
    from?.integration === integration ? [{ name, from, time }] : [],
  );

function tableStep({ table, identity, problem }: TableCheck): Check {
  const step = `table ${table}`;
  if (problem) return { step, ok: false, detail: describeTable(table, problem), fix: problem.fix };
  return { step, ok: true, detail: identity === 'full' ? 'can be read, with the row before' : 'can be read' };
}

/**
 * Returns the doctor's checks of sources that wait, are stopped or are being removed, and of tables that are not read.
 */
export async function sourceChecks({
  sources,
  clock,
}: Pick<ControlPorts, 'sources' | 'clock'>): Promise<readonly Check[]> {
  return (await sources.list()).flatMap((source) => [...stateChecks(source, clock.now()), ...unreadTables(source)]);
}

const nameOf = ({ workspace, integration }: SourceRef): string => `${workspace}/${integration}`;

function stateChecks(source: StoredSource, now: number): readonly Check[] {
  if (source.state.kind === 'running') return [];
  const { sentence, fix } = describeSource(source, now);
  return [{ step: `source ${nameOf(source)}`, ok: false, detail: sentence, fix }];
}

const unreadTables = (source: StoredSource): readonly Check[] =>
  source.tables.flatMap(({ table, problem }) =>
    problem === null
      ? []
      : [{ step: `source ${nameOf(source)}`, ok: false, detail: describeTable(table, problem), fix: problem.fix }],
  );
