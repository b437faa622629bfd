import {
  describeSource,
  describeTable,
  describeWaiting,
  type SourceProblem,
  type WaitingReason,
} from '@carillon/domain/changes';
import { listResources, tablesOf, type Configuration, type DatabaseIntegration } from '@carillon/domain/configuration';
import { err, formatDuration, ok } from '@carillon/kernel';
import type { ChangeSources, SourceCheck, SourceTarget, StoredSource, TableCheck } from '@carillon/ports';
import { missingColumns } from './missing-columns.ts';
import type { Check, ControlPorts } from './ports.ts';
import { CHECK_PATIENCE } from './routes/configuration/cohorts.ts';
import { missingSecret } from './secret-places.ts';

type Ref = { readonly workspace: string; readonly integration: string };
/** A database with its secrets, or a sentence for each secret that is not set. */
export type FoundTarget = { readonly target: SourceTarget } | { readonly missing: readonly string[] };

export async function findTarget(
  { workspace, integration }: Ref,
  { url, tls }: DatabaseIntegration,
  { secrets }: Pick<ControlPorts, 'secrets'>,
): Promise<FoundTarget> {
  const names = [url.secret, ...(tls ? [tls.ca.secret] : [])];
  const values = await Promise.all(names.map((name) => secrets.resolve(workspace, name)));
  const absent = names.filter((_, index) => values[index] === null);
  const [address = null, ca = null] = values;
  if (address === null || absent.length > 0) {
    return { missing: await Promise.all(absent.map((name) => missingSecret(workspace, name, secrets))) };
  }
  return { target: { workspace, integration, url: address, ca } };
}

const LATE: SourceProblem<WaitingReason> = {
  reason: 'unreachable',
  detail: `No answer came within the ${formatDuration(CHECK_PATIENCE)} that a check may take.`,
  fix: null,
};
const UNANSWERED: SourceCheck = { server: null, problems: [LATE], warnings: [], tables: [] };

/** Resolves as `work` does, or to `otherwise` if the deadline comes first. */
function before<Value>(deadline: AbortSignal, work: Promise<Value>, otherwise: Value): Promise<Value> {
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
  deadline = AbortSignal.timeout(CHECK_PATIENCE),
): ReturnType<ChangeSources['tables']> => before(deadline, changeSources.tables(target), err(LATE));

/** Looks at a database as the engine would, and says what keeps it from being read. Changes nothing there. */
export async function checkDatabase(
  ref: Ref,
  body: DatabaseIntegration,
  configuration: Configuration,
  ports: Pick<ControlPorts, 'secrets' | 'changeSources'>,
): Promise<Check[]> {
  const steps: readonly Check[] = [{ step: 'integration', ok: true, detail: `kind ${body.kind}` }];
  const found = await findTarget(ref, body, ports);
  if ('missing' in found) return [...steps, ...found.missing.map((detail) => ({ step: 'secret', ok: false, detail }))];
  const changeSources = await ports.changeSources();
  const streams = streamsReading(ref, configuration);
  const names = [...new Set(streams.flatMap((stream) => tablesOf(stream).map(({ table }) => table)))];
  const deadline = AbortSignal.timeout(CHECK_PATIENCE);
  const [checked, tables] = await Promise.all([
    before(deadline, changeSources.check(found.target, names), UNANSWERED),
    names.length === 0 ? ok([]) : readTables(changeSources, found.target, deadline),
  ]);
  const missing = checked.problems.length === 0 && tables.ok ? missingColumns(streams, tables.value) : [];
  return [...steps, ...checkSteps(checked), ...missing.map((detail) => ({ step: 'warning', ok: true, detail }))];
}

function checkSteps({ server, problems, warnings, tables }: SourceCheck): Check[] {
  return [
    ...(server === null ? [] : [{ step: 'server', ok: true, detail: server }]),
    ...problems.map((problem) => ({
      step: problem.reason,
      ok: false,
      detail: describeWaiting('postgres', problem),
      fix: problem.fix,
    })),
    ...warnings.map(({ detail, fix }) => ({ step: 'warning', ok: true, detail, fix })),
    ...tables.map(tableStep),
  ];
}

/** Returns the streams that read an integration. */
const streamsReading = ({ workspace, integration }: Ref, configuration: Configuration) =>
  listResources(configuration, 'stream', workspace).flatMap(({ ref: { name }, body: { from, time = null } }) =>
    from?.integration === integration ? [{ name, from, time }] : [],
  );

function tableStep({ table, identity, problem }: TableCheck): Check {
  const step = `table ${table}`;
  if (problem) return { step, ok: false, detail: describeTable(table, problem), fix: problem.fix };
  return { step, ok: true, detail: identity === 'full' ? 'can be read, with the row before' : 'can be read' };
}

/** What the doctor says of sources that wait, are stopped or leave, and of tables that are not read. */
export async function sourceChecks({
  sources,
  clock,
}: Pick<ControlPorts, 'sources' | 'clock'>): Promise<readonly Check[]> {
  return (await sources.list()).flatMap((source) => [...stateChecks(source, clock.now()), ...unreadTables(source)]);
}

const nameOf = ({ workspace, integration }: Ref): string => `${workspace}/${integration}`;

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
