import { workspacesOf } from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import { ERASED, type LogRecord } from '@carillon/ports';
import { ENGINE_SEMANTICS, streamOfRecord } from '@carillon/stages';
import type { StreamGap } from './gaps.ts';
import { parkedKey } from './verify-copy.ts';
import { newerMark } from './verify-marks.ts';
import type { Mark, VerifyParts } from './verify-parts.ts';
import type { StatefulRules } from './verify-rules.ts';

/** Consecutive records, either all gaps or none. */
export type Stretch = {
  readonly records: readonly LogRecord[];
  /** Records that the rules read. The others only move the watermark. */
  readonly relevant: ReadonlySet<LogRecord>;
  readonly gaps: readonly StreamGap[];
};

type Reading = { readonly isRelevant: boolean; readonly gap: StreamGap | null };
const IRRELEVANT: Reading = { isRelevant: false, gap: null };
const RELEVANT: Reading = { isRelevant: true, gap: null };

/** Splits records, so that a gap counts for all outputs of the records from the gap on. `newest`: the newest marker before them. */
export async function stretchesOf(
  records: readonly LogRecord[],
  newest: Mark | null,
  parts: VerifyParts & { readonly rules: StatefulRules },
): Promise<readonly Stretch[]> {
  type Growing = { readonly records: LogRecord[]; readonly relevant: Set<LogRecord>; readonly gaps: StreamGap[] };
  const stretches: Growing[] = [];
  let mark = newest;
  for (const record of records) {
    const before = mark;
    mark = newerMark(mark, record, parts.history.logId);
    const { isRelevant, gap } =
      record.headers['kind'] === 'marker'
        ? await readMarker(record, mark, before, parts)
        : await readRecord(record, mark, parts);
    let stretch = stretches.at(-1);
    if (!stretch || stretch.gaps.length > 0 !== (gap !== null)) {
      stretch = { records: [], relevant: new Set(), gaps: [] };
      stretches.push(stretch);
    }
    stretch.records.push(record);
    if (isRelevant) stretch.relevant.add(record);
    if (gap) stretch.gaps.push(gap);
  }
  return stretches;
}

async function readMarker(
  { partition, offset, time }: LogRecord,
  mark: Mark | null,
  before: Mark | null,
  { configuration, run }: VerifyParts,
): Promise<Reading> {
  if (mark === null || mark.semantics > ENGINE_SEMANTICS) return IRRELEVANT;
  const isThere = async ({ number }: Mark): Promise<boolean> =>
    workspacesOf(await configuration.at(number)).has(run.workspace);
  // The engine drops the states of a removed workspace.
  const isRemoved = before !== null && (await isThere(before)) && !(await isThere(mark));
  return isRemoved ? { isRelevant: true, gap: { partition, stream: null, offset, time } } : RELEVANT;
}

async function readRecord(
  record: LogRecord,
  mark: Mark | null,
  { configuration, history, rules, run, scratch }: VerifyParts & { readonly rules: StatefulRules },
): Promise<Reading> {
  const { headers, partition, offset, time } = record;
  if (headers['kind'] === 'tick' || headers['workspace'] !== run.workspace) return IRRELEVANT;
  const stream = streamOfRecord(record);
  if (stream === null) return RELEVANT;
  if (mark?.semantics !== ENGINE_SEMANTICS || headers['kind'] === ERASED)
    return { isRelevant: false, gap: { partition, stream, offset, time } };
  if (scratch.answer(parkedKey(formatPosition({ ...record, logId: history.logId }))) !== undefined) return IRRELEVANT;
  return rules.keepsState(await configuration.at(mark.number), stream) ? RELEVANT : IRRELEVANT;
}
