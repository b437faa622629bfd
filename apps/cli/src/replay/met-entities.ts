import type { MetEntity, ScratchFile } from '@carillon/adapter-embedded';
import type { SourceEvent } from '@carillon/domain/events';
import type { Instant } from '@carillon/kernel';
import type { Ids, LogRecord } from '@carillon/ports';
import type { Lookback } from '@carillon/stages';

export type MeetingFacts = Lookback & {
  /** Append time of the first record that the comparison reads. Null: it reads the partition from its first record, so it knows every state. */
  readonly since: Instant | null;
  readonly ids: Pick<Ids, 'keyed'>;
  readonly scratch: Pick<ScratchFile, 'met'>;
};

/** An event of an entity. */
type EntityEvent = Pick<SourceEvent, 'stream' | 'key' | 'time'> & { readonly position: { readonly offset: number } };

export type Meeting = {
  /** Known states of the records' entities after these records. */
  readonly met: readonly MetEntity[];
  /** Returns true if earlier events, which were not read, may change what rules make of an event. */
  readonly isCold: (event: EntityEvent) => boolean;
  /** Offsets of such events among the records. */
  readonly cold: readonly number[];
};

/**
 * Finds out of which entities a comparison knows the state. If it reads the partition from its first record, it knows all of them. Otherwise it
 * knows the state of an entity once the entity had no event for longer than its rules look back, or was forgotten. Reading records twice changes
 * nothing.
 */
export function meetEntities(records: readonly LogRecord[], facts: MeetingFacts): Meeting {
  const { since, span, readsEventBefore, ownTimes, ids, scratch } = facts;
  if (since === null) return { met: [], cold: [], isCold: () => false };
  const idOf = (stream: string, key: string): string => ids.keyed('run entity', stream, key);
  const named = records.flatMap((record) => {
    const { stream, key } = record.headers;
    const entity = key === undefined ? null : decodeKey(key);
    return stream && entity !== null ? [{ record, stream, entity, id: idOf(stream, entity) }] : [];
  });
  const known = scratch.met([...new Set(named.map(({ id }) => id))]);
  const met = new Map<string, MetEntity>();
  for (const { record, id } of named) {
    const { headers, offset, time } = record;
    const before = met.get(id) ?? known.get(id);
    const isKnown = headers['kind'] === 'forget' || time - (before?.last ?? since) > span;
    met.set(id, {
      id,
      last: Math.max(before?.last ?? 0, time),
      firstOffset: before?.firstOffset ?? offset,
      knownFrom: before?.knownFrom ?? (isKnown ? offset : null),
    });
  }
  const isCold: Meeting['isCold'] = ({ stream, key, position: { offset }, time }) => {
    if (key === null) return false;
    // An old time of an event meets times that rules keep of earlier events.
    if (ownTimes.has(stream) && time <= since + span) return true;
    const id = idOf(stream, key);
    const entity = met.get(id) ?? scratch.met([id]).get(id);
    if (!entity || entity.knownFrom === null || offset < entity.knownFrom) return true;
    return readsEventBefore && offset === entity.firstOffset;
  };
  const cold = named.flatMap(({ record: { headers, offset, time }, stream, entity }) => {
    const event = { stream, key: entity, time: Number(headers['time'] ?? time), position: { offset } };
    return headers['kind'] === 'event' && isCold(event) ? [offset] : [];
  });
  return { met: [...met.values()], cold, isCold };
}

function decodeKey(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
