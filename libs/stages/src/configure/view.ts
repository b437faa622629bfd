import {
  EMPTY_CONFIGURATION,
  foldConfiguration,
  type Configuration,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { CarillonError, type Duration, type Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView, DecodeError, EventLog, RecordCodecs } from '@carillon/ports';
import { decodeRecord } from '../decode-record.ts';
import { createHistory, type ConfigurationHistory } from './history.ts';

const PAGE = 200;
const RETRY_AFTER: Duration = 1000;

export type FollowedConfiguration = ConfigurationView & {
  /** Everything that was published, as far as it has been read. */
  readonly history: ConfigurationHistory;
  /** Resources whose change of this record was void, because it was based on an older number. Empty: it took effect. */
  voided(number: number): readonly ResourceRef[];
  /** Append time of the newest record, or undefined before any. */
  newestAt(): Instant | undefined;
  /** Place, reason and remedy of the record that cannot be read on from now, or null. */
  stoppedBefore(): string | null;
};

/**
 * Reads `carillon.config` from its start and keeps the configuration of every number in memory, sharing unchanged
 * parts. Records without our frame are skipped and reported; all readers agree on that, because such a number exists
 * and changes nothing. A framed record that cannot be decoded here may be valid for another program or later. The view
 * then stops before it, and reads reject with `configuration_stale` until it can be decoded.
 */
export function createConfigurationView(
  log: Pick<EventLog, 'read'>,
  codec: RecordCodecs['configuration'],
  clock: Clock,
  passedOver: (offset: number, why: string) => void = () => undefined,
): FollowedConfiguration {
  const byNumber: Configuration[] = [];
  const history = createHistory();
  const voidedBy = new Map<number, readonly ResourceRef[]>();
  let current = EMPTY_CONFIGURATION;
  let next = 0;
  let endSeenAt = Number.NEGATIVE_INFINITY;
  let newestAt: Instant | undefined;
  let stopped: string | null = null;
  let running: Promise<void> | undefined;

  async function readToEnd(): Promise<void> {
    for (;;) {
      const askedAt = clock.now();
      const records = await log.read('carillon.config', 0, next, PAGE);
      for (const record of records) {
        const decoded = await decodeRecord(codec, record.value);
        if (!decoded.ok && decoded.error.reason !== 'not_framed') {
          stopped = unreadable(record.offset, decoded.error);
          throw new CarillonError('configuration_stale', stopped, { retryAfter: RETRY_AFTER });
        }
        stopped = null;
        if (!decoded.ok) passedOver(record.offset, decoded.error.detail);
        const folded = decoded.ok
          ? foldConfiguration(current, decoded.value, record.offset)
          : { configuration: { ...current, number: record.offset }, voided: [] };
        current = folded.configuration;
        byNumber[record.offset] = current;
        if (folded.voided.length > 0) voidedBy.set(record.offset, folded.voided);
        else if (decoded.ok) history.keep(decoded.value, current);
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
    const known = byNumber[number];
    if (known) return known;
    throw new CarillonError('log_unavailable', `carillon.config has no record ${number}`);
  }

  return {
    history,
    current: () => current,
    at,
    readToEndAt: () => endSeenAt,
    refresh,
    voided: (number) => voidedBy.get(number) ?? [],
    newestAt: () => newestAt,
    stoppedBefore: () => stopped,
  };
}

function unreadable(offset: number, { reason, detail }: DecodeError): string {
  const remedy =
    reason === 'unknown_schema'
      ? 'Bring the schema back to the registry, or this process to the release that wrote the record'
      : 'Bring this process to the release that wrote the record; if no release reads it, restore the topic';
  const what = `record ${offset} of carillon.config/0 cannot be read (${reason}: ${detail})`;
  return `${what}, and nothing behind it counts until then. ${remedy}`;
}
