import type { SourceBody } from '@carillon/contracts';
import {
  canPassOver,
  describeSource,
  describeSpan,
  describeTable,
  describeTableGap,
  readUntil,
  resetStart,
} from '@carillon/domain/changes';
import { listResources, type Configuration } from '@carillon/domain/configuration';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { StoredSource, TableReading } from '@carillon/ports';

const timeOf = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));

/** Returns a source as the API shows it, without anything of its address. */
export function showSource(source: StoredSource, configuration: Configuration, now: Instant): SourceBody {
  const { workspace, integration, position, reset } = source;
  const { state, reason, sentence, fix } = describeSource(source, now);
  const canReset = reset === null;
  const continuesAt = canReset ? resetStart(source) : null;
  return {
    workspace,
    name: integration,
    kind: source.kind,
    state,
    reason,
    sentence,
    fix,
    since: formatInstant(source.since),
    lag_seconds: lagSeconds(source, now),
    lag_bytes: source.lagBytes,
    lag_records: source.lagRecords ?? null,
    last_change_at: timeOf(source.lastChangeAt),
    read_until: timeOf(readUntil(position)),
    continues_at: continuesAt,
    span: canReset ? describeSpan(source, now) : null,
    span_at_end:
      canReset && (continuesAt === 'oldest' || canPassOver(source)) ? describeSpan(source, now, 'end') : null,
    reset_requested_at: timeOf(reset?.at ?? null),
    streams: streamsOf(source, configuration),
    tables: source.tables.map((reading) => showTable(reading, source.state.kind === 'running', now)),
  };
}

/** Null until the first position. Zero if everything that the source has was read. */
function lagSeconds({ position, state, lagBytes, lagRecords }: StoredSource, now: Instant): number | null {
  const until = readUntil(position);
  if (position !== null && state.kind === 'running' && (lagRecords ?? lagBytes) === 0) return 0;
  return until === null ? null : Math.max(0, Math.round((now - until) / 1000));
}

const streamsOf = ({ workspace, integration }: StoredSource, configuration: Configuration): string[] =>
  listResources(configuration, 'stream', workspace)
    .filter(({ body }) => body.from?.integration === integration)
    .map(({ ref }) => ref.name);

const showTable = (
  { table, since, problem, lagRecords, gap }: TableReading,
  isRunning: boolean,
  now: Instant,
): SourceBody['tables'][number] => ({
  table,
  since: timeOf(since),
  problem: problem && { reason: problem.reason, sentence: describeTable(table, problem), fix: problem.fix },
  lag_records: isRunning ? (lagRecords ?? null) : null,
  gap: gap === undefined ? null : describeTableGap(gap, now),
});
