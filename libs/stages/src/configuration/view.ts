import { EMPTY_CONFIGURATION, foldConfiguration, type Configuration, type ResourceRef } from '@carillon/domain';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView, EventLog, RecordCodecs } from '@carillon/ports';
import { decodeRecord } from '../decode-record.ts';

const PAGE = 200;

export type FollowedConfiguration = ConfigurationView & {
  /** Resources whose change of this record was void, because it was based on an older number. Empty: it took effect. */
  voided(number: number): readonly ResourceRef[];
  /** Append time of the newest record, or undefined before any. */
  newestAt(): Instant | undefined;
};

/**
 * Follows `carillon.config` by folding it from its start; every number's configuration stays at hand, sharing what did
 * not change. A record that cannot be read is passed over by every reader alike (its number exists and changes nothing).
 */
export function createConfigurationView(
  log: EventLog,
  codec: RecordCodecs['configuration'],
  clock: Clock,
): FollowedConfiguration {
  const history: Configuration[] = [];
  const voidedBy = new Map<number, readonly ResourceRef[]>();
  let current = EMPTY_CONFIGURATION;
  let next = 0;
  let endSeenAt = Number.NEGATIVE_INFINITY;
  let newestAt: Instant | undefined;
  let running: Promise<void> | undefined;

  async function readToEnd(): Promise<void> {
    for (;;) {
      const askedAt = clock.now();
      const records = await log.read('carillon.config', 0, next, PAGE);
      for (const record of records) {
        const decoded = await decodeRecord(codec, record.value);
        const folded = decoded.ok
          ? foldConfiguration(current, decoded.value, record.offset)
          : { configuration: { ...current, number: record.offset }, voided: [] };
        current = folded.configuration;
        history[record.offset] = current;
        if (folded.voided.length > 0) voidedBy.set(record.offset, folded.voided);
        newestAt = record.time;
        next = record.offset + 1;
      }
      // A page ends at its bytes too: only an empty one shows the end.
      if (records.length === 0) {
        endSeenAt = askedAt;
        return;
      }
    }
  }

  /** Single flight, but a caller never gets a reading that began before it asked. */
  async function refresh(): Promise<Configuration> {
    if (running) await running.catch(() => undefined);
    running ??= readToEnd().finally(() => {
      running = undefined;
    });
    await running;
    return current;
  }

  async function at(number: number): Promise<Configuration> {
    if (number < 0) return EMPTY_CONFIGURATION;
    if (number >= next) await refresh();
    const known = history[number];
    if (known) return known;
    throw new CarillonError('log_unavailable', `carillon.config holds no record ${number}`);
  }

  return {
    current: () => current,
    at,
    readToEndAt: () => endSeenAt,
    refresh,
    voided: (number) => voidedBy.get(number) ?? [],
    newestAt: () => newestAt,
  };
}
