import type { MetEntity, ScratchFile } from '@carillon/adapter-embedded';
import type { SourceEvent } from '@carillon/domain/events';
import type { Ids, LogRecord } from '@carillon/ports';
import type { Lookback } from '@carillon/stages';
import type { Gap } from './gaps.ts';

export type MeetingFacts = Lookback & {
  /** Returns the newest gap of a stream. Null: the run reads all its records, so it knows the state of each entity. */
  readonly gapOf: (stream: string) => Gap | null;
  readonly ids: Pick<Ids, 'keyed'>;
  readonly scratch: Pick<ScratchFile, 'met'>;
};

/** An event of an entity. */
type EntityEvent = Pick<SourceEvent, 'stream' | 'key' | 'time'> & { readonly position: { readonly offset: number } };

export type Meeting = {
  /** Known states of the records' entities after these records. */
  readonly met: readonly MetEntity[];
  /** Returns true if events that were not read may change what rules make of an event. */
  readonly isCold: (event: EntityEvent) => boolean;
  /** Offsets of such events among the records. */
  readonly cold: readonly number[];
};

/**
 * Finds out of which entities a run knows the state. It knows the state of an entity of a stream with a gap once the entity had no event for
 * longer than its rules look back, or was forgotten. Reading records twice changes nothing.
 */
export function meetEntities(records: readonly LogRecord[], facts: MeetingFacts): Meeting {
  const { gapOf, span, readsEventBefore, ownTimes, ids, scratch } = facts;
  const idOf = (stream: string, key: string): string => ids.keyed('run entity', stream, key);
  const named = records.flatMap((record) => {
    const { stream, key } = record.headers;
    const gap = stream ? gapOf(stream) : null;
    const entity = key === undefined || !gap ? null : decodeKey(key);
    return stream && gap && entity !== null ? [{ record, stream, gap, entity, id: idOf(stream, entity) }] : [];
  });
  const known = scratch.met([...new Set(named.map(({ id }) => id))]);
  const met = new Map<string, MetEntity>();
  for (const { record, gap, id } of named) {
    const { headers, offset, time } = record;
    const last = met.get(id) ?? known.get(id);
    const before = last && last.firstOffset > gap.offset ? last : undefined;
    const isKnown = headers['kind'] === 'forget' || time - Math.max(last?.last ?? 0, before ? 0 : gap.time) > span;
    met.set(id, {
      id,
      last: Math.max(last?.last ?? 0, time),
      firstOffset: before?.firstOffset ?? offset,
      knownFrom: before?.knownFrom ?? (isKnown ? offset : null),
    });
  }
  const isCold: Meeting['isCold'] = ({ stream, key, position: { offset }, time }) => {
    const gap = gapOf(stream);
    if (!gap || key === null) return false;
    if (offset <= gap.offset) return true;
    // An old time of an event meets times that rules keep of earlier events.
    if (ownTimes.has(stream) && time <= gap.time + span) return true;
    const id = idOf(stream, key);
    const entity = met.get(id) ?? scratch.met([id]).get(id);
    if (!entity || entity.firstOffset <= gap.offset || entity.knownFrom === null || offset < entity.knownFrom)
      return true;
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
