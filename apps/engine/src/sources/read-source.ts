import { postgresPosition } from '@carillon/domain/changes';
import type { DatabaseSource } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import type {
  ChangeSources,
  SourceEnd,
  SourceHandlers,
  SourceReport,
  SourceTarget,
  TableReading,
} from '@carillon/ports';
import { prepareChange, type ChangeResult, type PreparedChange } from '@carillon/stages';
import type { SavedSource } from './saved-source.ts';
import { nameOf, type SourcePorts, type SourceTiming } from './source-ports.ts';
import { secretsOf, tableNamesOf } from './source-target.ts';

/** Events of a batch that are not worth a wait. */
const UNPACED = 25;
/** A partition that stands still holds a reader up for no longer, per batch. */
const PACE_PATIENCE: Duration = 2_000;

export type Reading = {
  readonly configured: DatabaseSource;
  readonly target: SourceTarget;
  readonly saved: SavedSource;
  /** Returns true as long as the source is to be read as it is configured here. */
  readonly isCurrent: () => boolean;
  /** Resolves to true while this process may read. Called every few seconds. */
  readonly mayContinue: () => Promise<boolean>;
  readonly pause: (ms: Duration) => Promise<void>;
  readonly timing: SourceTiming;
};

/** Reads a source until the reader ends, or has to end. Changes become events; position, state and lag are stored. */
export async function readSource(reading: Reading, sources: ChangeSources, ports: SourcePorts): Promise<SourceEnd> {
  const { configured, target, saved } = reading;
  let failure: unknown = null;
  const handlers = createHandlers(reading, ports, (error) => {
    failure ??= error;
    void reader.close();
  });
  const reader = sources.open(target, tableNamesOf(configured), postgresPosition(saved.current().position), handlers);
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
): SourceHandlers {
  const { clock, watch } = ports;
  const name = nameOf(saved.current());
  const secrets = secretsOf(configured);
  let latest: SourceReport | null = null;
  let paced: Promise<void> = Promise.resolve();

  return {
    async take({ changes, position }) {
      await paced;
      // The configuration may have changed which columns reach the log.
      if (!isCurrent()) throw new ReadingEnded();
      const prepared = changes.flatMap((change) => prepareChange(change, configured.streams, ports));
      const lastChangeAt = changes.length > 0 ? clock.now() : saved.current().lastChangeAt;
      const records = prepared.map(({ record }) => record);
      const refused = prepared.find(({ error }) => error !== undefined);
      if (refused !== undefined) watch.trouble(`read a change of ${name}`, refused.error);
      await saved.save({ position, secrets, lastChangeAt, ...latest, moved: false }, records);
      for (const [result, count] of countsOf(prepared)) watch.sourceChanges(name, result, count);
      paced = pace(prepared, ports).catch((error: unknown) => watch.trouble(`pace ${name}`, error));
    },
    report(report) {
      const { state, reportedAt, tables } = saved.current();
      const known = { ...report, tables: withKnownTimes(report.tables, tables) };
      latest = known;
      const isDue = clock.now() - reportedAt >= timing.reportMs;
      if (state.kind === 'running' && !isDue && JSON.stringify(tables) === JSON.stringify(known.tables)) return;
      saved.save({ state: { kind: 'running' }, secrets, ...known, moved: false }).catch(failed);
    },
  };
}

/** A reader does not know since when a table is read that was published before it opened. The source does. */
const withKnownTimes = (reported: readonly TableReading[], stored: readonly TableReading[]): readonly TableReading[] =>
  reported.map((reading) => {
    if (reading.since !== null || reading.problem !== null) return reading;
    return { ...reading, since: stored.find(({ table }) => table === reading.table)?.since ?? null };
  });

/** A reader ends, because the configuration reads its source in another way now. */
export class ReadingEnded extends Error {
  constructor() {
    super('the configuration of the source has changed');
    this.name = 'ReadingEnded';
  }
}

const countsOf = (prepared: readonly PreparedChange[]): readonly (readonly [ChangeResult, number])[] =>
  [...Map.groupBy(prepared, ({ result }) => result)].map(([result, of]) => [result, of.length]);

/** Resolves once the events of a batch are evaluated, so that a bulk update does not stand before the events of other streams. */
async function pace(prepared: readonly PreparedChange[], { log, progress }: SourcePorts): Promise<void> {
  if (prepared.length <= UNPACED) return;
  const events = prepared.filter(({ record }) => record.topic === 'carillon.events');
  const partitions = [...new Set(events.map(({ record }) => record.partition))];
  const places = await Promise.all(
    partitions.map(async (partition) => ({
      partition,
      offset: (await log.bounds('carillon.events', partition)).end - 1,
    })),
  );
  await progress.passed(places, PACE_PATIENCE);
}
