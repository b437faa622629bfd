import { parseJson, stringifyJson, type Duration, type EventId, type Instant, type JsonObject } from '@carillon/kernel';
import type { Change } from '../../changes/change.ts';
import { ruleIdOf, type PlacedRule } from '../../configuration/streams.ts';
import type { Position } from '../../events/position.ts';
import type { SourceEvent } from '../../events/source-event.ts';
import type { Deadline } from '../forms/rule-form.ts';

/** An event that names its entity. */
export type KeyedEvent = SourceEvent & { readonly key: string };

/** Whose memory it is: the value at the key of a stream. */
export type Entity = { readonly workspace: string; readonly stream: string; readonly key: string };

/** A whole event, so that an edited rule or template finds every field of it. */
export type KeptEvent = Pick<SourceEvent, 'id' | 'body' | 'appendedAt' | 'time' | 'traceparent'> & {
  /** What the row of the change, `body`, does not say. Null for an event that was received. */
  readonly change: Omit<Change, 'event'> | null;
  /** UTF-8 bytes of the rest as JSON. */
  readonly bytes: number;
};

/** A wait of a rule: its deadline, and the event that its message will be made from. */
export type PendingWait = Deadline & {
  /** Offset of the event. */
  readonly event: number;
  /** Offset of the entity's event before it. Null: there is none, or the rule does not name `previous`. */
  readonly previous: number | null;
};

/** Memory of one rule about the entity. */
export type RuleMemory = {
  /** Number of the configuration that had put the rule on the stream. */
  readonly since: number;
  readonly wait?: PendingWait;
  /** What its forms keep, by the name of the form. */
  readonly kept?: JsonObject;
};

/** Decision of a rule at a record, for people. The event alone does not say it again. */
export type Decision = {
  /** Offset of the record: an event of the entity, or any record of the partition that passed a deadline. */
  readonly record: number;
  /** Watermark at the record. */
  readonly at: Instant;
  readonly ruleId: string;
  /** The event of the record. At a deadline, the event that the message was made from. */
  readonly eventId: EventId;
  /** The event of the wait that the record ended or took over. */
  readonly waited?: EventId;
  /** The form that made the decision and has its words. Null if the rule itself made it, as when it fires. */
  readonly form: string | null;
  readonly saw: JsonObject;
};

/**
 * Memory of all rules of a stream about one entity, as plain values. Events are held once, by their offset. It is a
 * function of the log up to `offset`.
 */
export type EntityMemory = {
  readonly entity: Entity;
  /** The record at which the memory last changed, by an event or a deadline. Saves are compared by it. -1 at first. */
  readonly offset: number;
  /** The newest event of the entity that changed the memory. Events up to it are not applied again. -1 at first. */
  readonly appliedOffset: number;
  /** Ends of the newest 32 event ids that changed the memory, the newest last. */
  readonly seenIds: readonly string[];
  /** Offset of the entity's newest event, if a rule of the stream names `previous`. */
  readonly lastEvent: number | null;
  readonly events: Readonly<Record<string, KeptEvent>>;
  readonly rules: Readonly<Record<string, RuleMemory>>;
  /** The newest 16, the newest last. */
  readonly decisions: readonly Decision[];
  /** The memory counts as empty once the watermark is later, unless a rule waits. A whole day. Null: it is empty already. */
  readonly forgetAt: Instant | null;
  /** Offset of the record by which a person had the entity forgotten. Undefined: there was none. */
  readonly forgottenAt?: number;
};

/** Returns what is remembered of a rule, unless the rule was removed or moved in the meantime. */
export function ruleMemoryOf({ rules }: Pick<EntityMemory, 'rules'>, placed: PlacedRule): RuleMemory | undefined {
  const memory = rules[ruleIdOf(placed)];
  return memory?.since === placed.since ? memory : undefined;
}

export const MAX_SEEN_IDS = 32;
export const MAX_DECISIONS = 16;
/** Bytes of one event that a memory keeps. */
export const MAX_KEPT_EVENT_BYTES = 32 * 1024;
/** Bytes of all events that a memory keeps. With the rest a memory stays below 128 KiB. */
export const MAX_KEPT_BYTES = 96 * 1024;
export const MAX_MEMORY_BYTES = 128 * 1024;

export const emptyMemory = (entity: Entity): EntityMemory => ({
  entity,
  offset: -1,
  appliedOffset: -1,
  seenIds: [],
  lastEvent: null,
  events: {},
  rules: {},
  decisions: [],
  forgetAt: null,
});

export const entityOf = ({ workspace, stream, key }: KeyedEvent): Entity => ({ workspace, stream, key });

/** The name of a rule in the waits of states. An `id` of a rule is one of its workspace. `since`: that of the rule. */
export const waitingRule = (workspace: string, ruleId: string, since: number): string =>
  `${workspace} ${ruleId} ${since}`;

/** Returns the waits of a memory, as a store counts them. */
export const waitsOf = ({
  entity,
  rules,
}: Pick<EntityMemory, 'entity' | 'rules'>): readonly { readonly rule: string; readonly due: Instant }[] =>
  Object.entries(rules).flatMap(([ruleId, { since, wait }]) =>
    wait ? [{ rule: waitingRule(entity.workspace, ruleId, since), due: wait.due }] : [],
  );

/**
 * Returns a memory for the log of another deployment, on which configurations have numbers that are higher by `shift`. Records that stay
 * behind get offsets below 0, in the same order, so that every record of the new log comes after them.
 */
export function movedMemory(memory: EntityMemory, shift: number): EntityMemory {
  const moved = (offset: number): number => offset - memory.offset - 1;
  const { forgottenAt: _, ...rest } = memory;
  return {
    ...rest,
    offset: -1,
    appliedOffset: -1,
    lastEvent: memory.lastEvent === null ? null : moved(memory.lastEvent),
    events: Object.fromEntries(Object.entries(memory.events).map(([offset, event]) => [moved(Number(offset)), event])),
    rules: Object.fromEntries(
      Object.entries(memory.rules).map(([ruleId, { wait, ...rule }]) => [
        ruleId,
        {
          ...rule,
          since: rule.since + shift,
          ...(wait && {
            wait: {
              ...wait,
              event: moved(wait.event),
              previous: wait.previous === null ? null : moved(wait.previous),
            },
          }),
        },
      ]),
    ),
    decisions: memory.decisions.map((decision) => ({ ...decision, record: moved(decision.record) })),
  };
}

/** Stands for the entity of a memory without content. */
const NO_ENTITY: Entity = { workspace: '', stream: '', key: '' };

/** Returns the memory of an entity that a person had forgotten by a record: its position, and nothing else. */
export const forgottenMemory = (entity: Entity, offset: number): EntityMemory => ({
  ...emptyMemory(entity),
  offset,
  appliedOffset: offset,
  forgottenAt: offset,
});

/** Returns true if nothing but a position is kept of the entity. */
export const isPositionOnly = ({ offset, forgottenAt }: Pick<EntityMemory, 'offset' | 'forgottenAt'>): boolean =>
  offset === forgottenAt;

/** A memory as text, for a store. `offset` is a column of its own there. Empty if a person had the entity forgotten. */
export function formatMemory(memory: EntityMemory): string {
  if (isPositionOnly(memory)) return '';
  const { offset: _, ...rest } = memory;
  return stringifyJson(rest);
}

/** Reads what `formatMemory` wrote. An empty text does not name its entity, so that of the caller counts. */
export function readMemory(text: string, offset: number, entity: Entity = NO_ENTITY): EntityMemory {
  if (text === '') return forgottenMemory(entity, offset);
  const stored = parseJson(text) as unknown as Omit<EntityMemory, 'offset'>;
  return { ...stored, forgetAt: stored.forgetAt ?? null, offset };
}

/** When the earliest wait ends: at the first record whose watermark is later. Null: nothing waits. */
export function nextDueOf({ rules }: Pick<EntityMemory, 'rules'>): Instant | null {
  let earliest: Instant | null = null;
  for (const { wait } of Object.values(rules)) {
    if (wait && (earliest === null || wait.due < earliest)) earliest = wait.due;
  }
  return earliest;
}

/** An index of the stores holds the time, so it changes at most once a day. */
const DAY = 86_400_000;

/** Returns when a memory is forgotten of which an instant is the newest event or deadline. */
export const forgetAtOf = (newest: Instant, forgetAfter: Duration): Instant =>
  Math.ceil((newest + forgetAfter) / DAY) * DAY;

/** Returns the memory as an event at `watermark` finds it: without content if it is older than its stream remembers. */
export function remembered(memory: EntityMemory, watermark: Instant): EntityMemory {
  const { entity, offset, appliedOffset, forgetAt } = memory;
  if (forgetAt === null || forgetAt >= watermark || nextDueOf(memory) !== null) return memory;
  return { ...emptyMemory(entity), offset, appliedOffset };
}

/** Returns the last 65 bits of an event id. Ids that begin with a time differ only at their end; derived ids differ everywhere. */
const endOf = (id: EventId): string => id.slice(-13);

/** Returns true if the event is in the memory already, by its record or by another record with the same id. */
export const isApplied = (
  { appliedOffset, seenIds }: Pick<EntityMemory, 'appliedOffset' | 'seenIds'>,
  { position, id }: Pick<SourceEvent, 'position' | 'id'>,
): boolean => position.offset <= appliedOffset || seenIds.includes(endOf(id));

export const withSeenId = (seenIds: readonly string[], id: EventId): readonly string[] =>
  [...seenIds, endOf(id)].slice(-MAX_SEEN_IDS);

/** Returns the event as a memory keeps it, with its size. */
export function keepEvent({ id, body, change, appendedAt, time, traceparent }: SourceEvent): KeptEvent {
  const { event: _, ...rest } = change ?? { event: body };
  const kept = {
    id,
    body,
    change: change === null ? null : (rest as Omit<Change, 'event'>),
    appendedAt,
    time,
    traceparent,
  };
  return { ...kept, bytes: new TextEncoder().encode(stringifyJson(kept)).length };
}

/** Returns a kept event as the event that it was. `position` is that of any record of its partition. */
export function restoreEvent(
  { id, body, change, appendedAt, time, traceparent }: KeptEvent,
  { workspace, stream, key }: Entity,
  position: Position,
): KeyedEvent {
  const whole = change === null ? null : { ...change, event: body };
  return { id, workspace, stream, key, body, change: whole, position, appendedAt, time, traceparent };
}
