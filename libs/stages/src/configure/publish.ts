import type { ChangeOrigin, ConfigurationRecord, ResourceChange } from '@carillon/domain/configuration';
import { CarillonError, formatInstant, type Instant } from '@carillon/kernel';
import type { Clock, EventLog, Ids, RecordCodecs } from '@carillon/ports';
import { ENGINE_SEMANTICS, markerRecord } from '../append/source-record.ts';
import type { FollowedConfiguration } from './view.ts';

export type PublishPorts = {
  readonly log: EventLog;
  readonly codec: RecordCodecs['configuration'];
  readonly view: FollowedConfiguration;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Resolves when no gateway lets anybody in any more by what it read before this time. */
  readonly readEverywhere: (since: Instant) => Promise<void>;
};

/**
 * Appends the record, then a marker with its number to every partition of the event log, and resolves with the number
 * when all are acknowledged and every gateway goes by
 * it (architecture section 5). A crash in between leaves a record without markers: the holder of
 * the clock lease repeats them. Rejects with `conflict` where a change was based on an older number; nothing was changed.
 */
export async function publishConfiguration(
  ports: PublishPorts,
  changes: readonly ResourceChange[],
  by: ChangeOrigin,
): Promise<number> {
  const { log, codec, view, ids, clock } = ports;
  const record: ConfigurationRecord = {
    id: ids.random('request'),
    at: formatInstant(clock.now()),
    by,
    changes,
  };
  const [number] = await log.append([
    { topic: 'carillon.config', partition: 0, key: 'configuration', value: codec.encode(record), headers: {} },
  ]);
  const appendedAt = clock.now();
  if (number === undefined)
    throw new CarillonError('log_unavailable', 'the log returned no position for the new configuration');
  await view.refresh();
  const voided = view.voided(number);
  if (voided.length > 0) {
    const names = voided.map((ref) => `${ref.kind} ${ref.workspace}/${ref.name}`).join(', ');
    throw new CarillonError('conflict', `${names} changed meanwhile; read it again and repeat the change`);
  }
  await repeatMarkers(log, number);
  await ports.readEverywhere(appendedAt);
  return number;
}

/** Appends a marker of this number to every partition of the event log. Doing it twice changes nothing. */
export async function repeatMarkers(log: EventLog, number: number): Promise<void> {
  const partitions = Array.from({ length: log.partitions('carillon.events') }, (_, partition) => partition);
  await log.append(partitions.map((partition) => markerRecord(partition, number, ENGINE_SEMANTICS, log.logId)));
}
