import type { ConfiguredSource } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import type { StoredSource, TableReading, TopicEnd } from '@carillon/ports';
import { runYielding, type ChangeResult, type PreparedRecord } from '@carillon/stages';
import { secretsToKeep } from './open-source.ts';
import type { BatchHandlers, LagReport, OpenedSource } from './opened-source.ts';
import type { SavedSource } from './saved-source.ts';
import { readTables } from './read-tables.ts';
import { createPacing } from './pacing.ts';
import { nameOf, type SourcePorts, type SourceTiming } from './source-ports.ts';

export type Reading = {
  readonly configured: ConfiguredSource;
  readonly saved: SavedSource;
  /** Returns true as long as the configuration of the source is unchanged. */
  readonly isCurrent: () => boolean;
  /** Resolves to true while this process may read. Called every few seconds. */
  readonly mayContinue: () => Promise<boolean>;
  readonly pause: (ms: Duration) => Promise<void>;
  readonly timing: SourceTiming;
};

/** Reads a source until the reader ends, or has to end. Changes become events; position, state and lag are stored. */
export async function readSource(reading: Reading, opened: OpenedSource, ports: SourcePorts): Promise<TopicEnd> {
  const { saved } = reading;
  let failure: unknown = null;
  const handlers = createHandlers(reading, ports, (error) => {
    failure ??= error;
    void reader.close();
  });
  const reader = opened.open(saved.current().position, handlers);
  for (;;) {
    const end = await Promise.race([reader.ended, reading.pause(reading.timing.roundMs).then(() => null)]);
    if (end !== null) return end.kind === 'closed' ? { kind: 'closed', error: failure ?? end.error } : end;
    if (!reading.isCurrent() || !(await reading.mayContinue())) await reader.close();
  }
}

/** `failed`: the reader has to end. */
function createHandlers(
  { configured, saved, isCurrent, timing }: Reading,
  ports: SourcePorts,
  failed: (error: unknown) => void,
): BatchHandlers {
  const { clock, slice, watch } = ports;
  const name = nameOf(saved.current());
  const secrets = secretsToKeep(configured);
  let latest: LagReport | null = null;
  const pacing = createPacing(ports);
  let paced: Promise<void> = Promise.resolve();

  return {
    async take({ position, count, prepare }) {
      const prepared = await runYielding(prepare(), slice);
      await paced;
      // The configuration may have changed which columns reach the log.
      if (!isCurrent()) throw new ReadingEnded();
      const lastChangeAt = count > 0 ? clock.now() : saved.current().lastChangeAt;
      const records = prepared.flatMap(({ record }) => record ?? []);
      const refused = prepared.find(({ error }) => error !== undefined);
      if (refused !== undefined) watch.trouble(`read a change of ${name}`, refused.error);
      const state = count > 0 && waitsForSchema(saved.current()) ? RUNNING : {};
      await saved.save({ position, secrets, lastChangeAt, ...latest, ...state, moved: false }, records);
      for (const [result, times] of countsOf(prepared)) watch.sourceChanges(name, result, times);
      paced = pacing.keepTo(records).catch((error: unknown) => watch.trouble(`pace ${name}`, error));
    },
    mostChanges: pacing.mostChanges,
    report(report) {
      const { state, reportedAt, tables, lagRecords } = saved.current();
      const known = {
        ...report,
        tables: readTables(report.tables, {
          tables,
          reportedAt,
          now: clock.now(),
          areTopics: report.lagRecords !== undefined,
        }),
      };
      latest = known;
      const staysWaiting = waitsForSchema(saved.current()) && report.lagRecords !== 0;
      const isLagNew = report.lagRecords !== undefined && (lagRecords ?? null) === null;
      const isDue = isLagNew || clock.now() - reportedAt >= timing.reportMs;
      const isSame = staysWaiting || state.kind === 'running';
      if (isSame && !isDue && withoutLag(tables) === withoutLag(known.tables)) return;
      saved.save({ secrets, ...known, ...(!staysWaiting && RUNNING), moved: false }).catch(failed);
    },
  };
}

/** Tables as text. Their lag changes all the time. */
const withoutLag = (tables: readonly TableReading[]): string =>
  JSON.stringify(tables.map(({ lagRecords: _lag, ...table }) => table));

const RUNNING = { state: { kind: 'running' } } as const;

/** A source that waits for a schema meets the same record at each retry. It runs once a record was taken, or none is left. */
const waitsForSchema = ({ state }: StoredSource): boolean =>
  state.kind === 'waiting' && (state.reason === 'schema_unknown' || state.reason === 'registry_away');

/** A reader ends, because the configuration reads its source in another way now. */
export class ReadingEnded extends Error {
  constructor() {
    super('the configuration of the source has changed');
    this.name = 'ReadingEnded';
  }
}

const countsOf = (prepared: readonly PreparedRecord[]): readonly (readonly [ChangeResult, number])[] =>
  [...Map.groupBy(prepared, ({ result }) => result)].map(([result, of]) => [
    result,
    of.reduce((total, { count = 1 }) => total + count, 0),
  ]);
