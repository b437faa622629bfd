import { parseJson, stringifyJson, type Duration, type EventId, type Instant, type JsonObject } from '@carillon/kernel';
import type { Change } from '../../changes/change.ts';
import { ruleIdOf, type PlacedRule } from '../../configuration/streams.ts';
import type { Position } from '../../events/position.ts';
import type { SourceEvent } from '../../events/source-event.ts';
import type { Deadline } from '../forms/rule-form.ts';

/** An event that names its entity. */
export type KeyedEvent = SourceEvent & { readonly key: string };

/** Identity of an entity: the value at the key of a stream. */
export type Entity = { readonly workspace: string; readonly stream: string; readonly key: string };

/** A stored event. It is stored whole, so that an edited rule or template finds every field. */
export type KeptEvent = Pick<SourceEvent, 'id' | 'body' | 'appendedAt' | 'time' | 'traceparent'> & {
  /** Parts of the change besides its row, which is `body`. Null for an event that is no change. */
  readonly change: Omit<Change, 'event'> | null;
  /** UTF-8 bytes of the other fields as JSON. */
  readonly bytes: number;
};

/** A wait of a rule: its deadline, and the event from which its message will be made. */
export type PendingWait = Deadline & {
  /** Offset of the event. */
  readonly event: number;
  /** Offset of the entity's previous event. Null if there is none, or if the rule does not name `previous`. */
  readonly previous: number | null;
};

/** Memory of one rule about the entity. */
export type RuleMemory = {
  /** Number of the configuration that put the rule on the stream. */
  readonly since: number;
  readonly wait?: PendingWait;
  /** Values that the forms of the rule store, by the name of the form. */
  readonly kept?: JsonObject;
};

/** Decision of a rule at a record. It is stored for people, because the event alone does not show it. */
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
  /** The form that made the decision and can describe it. Null if the rule itself decided, for example by firing. */
  readonly form: string | null;
  readonly saw: JsonObject;
};

/**
 * Memory of all rules of a stream about one entity, as plain values. Each event is stored once, by its offset. The
 * memory depends only on the log up to `offset`.
 */
export type EntityMemory = {
  readonly entity: Entity;
  /**
   * Offset of the record that last changed the memory, by an event or a deadline. Saves are compared by it. -1 at
   * first.
   */
  readonly offset: number;
  /**
   * Offset of the newest event of the entity that changed the memory. Events up to it are not applied again. -1 at
   * first.
   */
  readonly appliedOffset: number;
  /** Last characters of the newest 32 event ids that changed the memory, newest last. */
  readonly seenIds: readonly string[];
  /** Offset of the entity's newest event, if a rule of the stream names `previous`. */
  readonly lastEvent: number | null;
  readonly events: Readonly<Record<string, KeptEvent>>;
  readonly rules: Readonly<Record<string, RuleMemory>>;
  /** The newest 16 decisions, newest last. */
  readonly decisions: readonly Decision[];
  /**
   * Time after which the memory counts as empty, unless a rule waits. Rounded to whole days. Null if it is empty
   * already.
   */
  readonly forgetAt: Instant | null;
  /** Offset of the record by which a person had the entity forgotten. Undefined if there is none. */
  readonly forgottenAt?: number;
};

/** Returns the memory of a rule, unless the rule was removed or moved since it was stored. */
export function ruleMemoryOf({ rules }: Pick<EntityMemory, 'rules'>, placed: PlacedRule): RuleMemory | undefined {
  const memory = rules[ruleIdOf(placed)];
  return memory?.since === placed.since ? memory : undefined;
}

export const MAX_SEEN_IDS = 32;
export const MAX_DECISIONS = 16;
/** Maximum bytes of one stored event. */
export const MAX_KEPT_EVENT_BYTES = 32 * 1024;
/** Maximum bytes of all stored events of an entity. With everything else the memory stays below 128 KiB. */
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

/** Returns a memory without the waits for events below an offset. Undefined: nothing is left out. */
export function withoutWaitsBelow(memory: EntityMemory, offset: number | undefined): EntityMemory {
  if (offset === undefined) return memory;
  const rules = Object.entries(memory.rules).map(([ruleId, { wait, ...rule }]) => {
    const isKept = wait !== undefined && wait.event >= offset;
    return [ruleId, { ...rule, ...(isKept && { wait }) }];
  });
  return { ...memory, rules: Object.fromEntries(rules) as EntityMemory['rules'] };
}

/**
 * Returns a memory moved to the log of another deployment, where configuration numbers are higher by `shift`. Its
 * offsets become negative and keep their order, so that every record of the new log is newer.
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

/** Placeholder for the entity of an empty memory. */
const NO_ENTITY: Entity = { workspace: '', stream: '', key: '' };

/** Returns the memory of an entity that a person had forgotten: only the offset of the record remains. */
export const forgottenMemory = (entity: Entity, offset: number): EntityMemory => ({
  ...emptyMemory(entity),
  offset,
  appliedOffset: offset,
  forgottenAt: offset,
});

/** Returns true if a memory contains only a position. */
export const isPositionOnly = ({ offset, forgottenAt }: Pick<EntityMemory, 'offset' | 'forgottenAt'>): boolean =>
  offset === forgottenAt;

/**
 * Formats a memory for a store. Empty if a person had the entity forgotten. Stores have a separate column for `offset`.
 */
export function formatMemory(memory: EntityMemory): string {
  if (isPositionOnly(memory)) return '';
  const { offset: _, ...rest } = memory;
  return stringifyJson(rest);
}

/** Reads a text of `formatMemory`. An empty text does not name its entity, so the given entity is used. */
export function readMemory(text: string, offset: number, entity: Entity = NO_ENTITY): EntityMemory {
  if (text === '') return forgottenMemory(entity, offset);
  const stored = parseJson(text) as unknown as Omit<EntityMemory, 'offset'>;
  return { ...stored, forgetAt: stored.forgetAt ?? null, offset };
}

/**
 * Returns the due time of the earliest wait, which ends at the first record with a later watermark. Null if nothing
 * waits.
 */
export function nextDueOf({ rules }: Pick<EntityMemory, 'rules'>): Instant | null {
  let earliest: Instant | null = null;
  for (const { wait } of Object.values(rules)) {
    if (wait && (earliest === null || wait.due < earliest)) earliest = wait.due;
  }
  return earliest;
}

/** Stores index the time of forgetting. Whole days change the index at most once a day. */
const DAY = 86_400_000;

/** Returns when a memory is forgotten whose newest event or deadline is at `newest`. */
export const forgetAtOf = (newest: Instant, forgetAfter: Duration): Instant =>
  Math.ceil((newest + forgetAfter) / DAY) * DAY;

/** Returns the memory as an event at `watermark` finds it: empty if it is older than its stream remembers. */
export function remembered(memory: EntityMemory, watermark: Instant): EntityMemory {
  const { entity, offset, appliedOffset, forgetAt } = memory;
  if (forgetAt === null || forgetAt >= watermark || nextDueOf(memory) !== null) return memory;
  return { ...emptyMemory(entity), offset, appliedOffset };
}

/** Returns the last 65 bits of an event id. Ids that begin with a time differ only at their end; derived ids differ everywhere. */
const endOf = (id: EventId): string => id.slice(-13);

/** Returns true if the memory includes the event already, by its own record or by another record with the same id. */
export const isApplied = (
  { appliedOffset, seenIds }: Pick<EntityMemory, 'appliedOffset' | 'seenIds'>,
  { position, id }: Pick<SourceEvent, 'position' | 'id'>,
): boolean => position.offset <= appliedOffset || seenIds.includes(endOf(id));

export const withSeenId = (seenIds: readonly string[], id: EventId): readonly string[] =>
  [...seenIds, endOf(id)].slice(-MAX_SEEN_IDS);

/** Returns the event as a memory keeps it, with its size. */
export function keepEvent({ id, body, change, appendedAt, time, traceparent }: SourceEvent): KeptEvent {
  const { event: _, ...rest } = change ?? { event: body };
  const content = {
    id,
    body,
    change: change === null ? null : (rest as Omit<Change, 'event'>),
    appendedAt,
    time,
    traceparent,
  };
  return { ...content, bytes: new TextEncoder().encode(stringifyJson(content)).length };
}

/** Returns a stored event as the original event. `position` may be that of any record of the partition. */
export function restoreEvent(
  { id, body, change, appendedAt, time, traceparent }: KeptEvent,
  { workspace, stream, key }: Entity,
  position: Position,
): KeyedEvent {
  const whole = change === null ? null : { ...change, event: body };
  return { id, workspace, stream, key, body, change: whole, position, appendedAt, time, traceparent };
}
