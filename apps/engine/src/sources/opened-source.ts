import type {
  SourcePosition,
  SourceProblem,
  SourceState,
  StoppedReason,
  WaitingReason,
} from '@carillon/domain/changes';
import { isDatabaseSource, isTopicsSource, type ConfiguredSource } from '@carillon/domain/configuration';
import type { Result } from '@carillon/kernel';
import type { ResetRequest, SourceReader, SourceSecrets, SourceTarget, TableReading, TopicEnd } from '@carillon/ports';
import type { PreparedRecord } from '@carillon/stages';
import { openDatabase, secretsOf } from './database-source.ts';
import type { SourcePorts } from './source-ports.ts';
import { openTopics } from './topics-source.ts';

/** What was read, and the position after it. */
export type SourceBatch = {
  readonly position: SourcePosition;
  /** Number of changes or records, with those that are skipped. */
  readonly count: number;
  /** Returns their records. */
  readonly prepare: () => readonly PreparedRecord[];
};

export type LagReport = {
  readonly tables: readonly TableReading[];
  readonly lagBytes: number | null;
  readonly lagRecords?: number;
};

export type BatchHandlers = {
  readonly take: (batch: SourceBatch) => Promise<void>;
  readonly report: (report: LagReport) => void;
};

export type ResetOrder = {
  readonly from: SourcePosition;
  readonly reason: StoppedReason;
  readonly request: ResetRequest;
};

/** Where a reset continues. `left`: what stays behind, for the audit; empty if nothing does. */
export type Begun = { readonly position: SourcePosition; readonly left: string };

/** A source with its secrets, whatever its kind. */
export type OpenedSource = {
  open(from: SourcePosition | null, handlers: BatchHandlers): SourceReader<TopicEnd>;
  reset(order: ResetOrder): Promise<Result<Begun, SourceProblem<WaitingReason>>>;
  /** The database, so that its slot can be dropped later. Null: nothing has to be dropped. */
  readonly database: SourceTarget | null;
};

/** Opens a source with its secrets, or returns the name of a secret that is not set. Connects to nothing. */
export function openSource(source: ConfiguredSource, ports: SourcePorts): Promise<Result<OpenedSource, string>> {
  if (isDatabaseSource(source)) return openDatabase(source, ports);
  if (isTopicsSource(source)) return openTopics(source, ports);
  throw new TypeError(`nothing reads a source of the kind ${source.body.kind}`);
}

/** Names of the secrets that a source needs once its integration is gone. */
export const secretsToKeep = (source: ConfiguredSource): SourceSecrets | null =>
  isDatabaseSource(source) ? secretsOf(source) : null;

/** The state of a source before anything was read. */
export const firstState = (source: ConfiguredSource): SourceState => ({
  kind: 'waiting',
  reason: isDatabaseSource(source) ? 'making_slot' : 'unreachable',
  detail: null,
  fix: null,
});

/** Equal for configurations by which a reader reads the same in the same way. */
export const readingOf = ({ body, streams }: ConfiguredSource): string =>
  JSON.stringify([
    body,
    streams.map(({ stream: { path, time, format }, tables, topics }) => [path, time, format, tables, topics]),
  ]);
