import {
  applyCohortMessage,
  cohortKey,
  dueChunk,
  isApplied,
  isBefore,
  settleCohort,
  type Applied,
  type Cohort,
  type CohortMember,
  type CohortRecord,
} from '@carillon/domain/cohorts';
import type { Intent } from '@carillon/domain/deliveries';
import { ruleIdOf } from '@carillon/domain/configuration';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { triggerIdOf, type Trigger } from '@carillon/domain/lookups';
import {
  emptyMemory,
  entityOf,
  isApplied as isKnown,
  passDeadlines,
  startTurn,
  type EntityMemory,
  type KeyedEvent,
  type PassingRecord,
} from '@carillon/domain/rules';
import { runToCompletion, type Instant } from '@carillon/kernel';
import type { LogRecord, RecordCodec, TopicName } from '@carillon/ports';
import {
  createConfigurationView,
  createRuleBook,
  evaluateEventCoroutine,
  outputsOfPassed,
  readSourceRecord,
  resolveLookup,
  type EvaluatedRule,
} from '@carillon/stages';
import { createDirectWire } from '@carillon/testing/memory';
import type { Shared, World } from './world.ts';

/** What one record of the event log is to come to. */
export type Judged = {
  readonly eventId: string | null;
  /** Nobody can read it. */
  readonly isBroken: boolean;
  readonly configNumber: number;
};

/** What the log should have led to: the decisions of the product, made once, in order, and by nobody who ever failed. */
export type Expected = {
  /** By partition and offset. */
  readonly judged: readonly (readonly Judged[])[];
  /** By id; an event that was posted twice may make a record twice, with other places in it. */
  readonly intents: ReadonlyMap<string, readonly Intent[]>;
  readonly triggers: ReadonlyMap<string, readonly Trigger[]>;
  /** Position of the lookup record that counts, by trigger. */
  readonly firstLookups: ReadonlyMap<string, string>;
  /** Ids of the events that come of changes in cohorts. */
  readonly entered: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
  /** Whether somebody should still be let go of. */
  readonly settling: boolean;
};

export function decodeAll<Value>(world: World, topic: TopicName, codec: RecordCodec<Value>) {
  const readable = world.log.all(topic).filter((record) => !world.broken.has(placeOf(world, record)));
  return readable.map((record) => {
    const decoded = codec.decode(record.value);
    if (!decoded.ok) throw new Error(`${placeOf(world, record)}: ${decoded.error.detail}`);
    return { record, value: decoded.value };
  });
}

export const placeOf = ({ log }: World, record: LogRecord): string => formatPosition({ ...record, logId: log.logId });

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}

type Making = Parameters<typeof outputsOfPassed>[1];

/** The memories of all entities, as the records of each partition change them one after the other. */
class Entities {
  readonly #byPartition = new Map<number, Map<string, EntityMemory>>();
  readonly #watermarks = new Map<number, Instant>();

  #memoriesOf(partition: number): Map<string, EntityMemory> {
    const memories = this.#byPartition.get(partition) ?? new Map<string, EntityMemory>();
    this.#byPartition.set(partition, memories);
    return memories;
  }

  /** Ends the waits that are due at a record. */
  pass({ position, watermark }: PassingRecord, making: Making): readonly EvaluatedRule[] {
    const memories = this.#memoriesOf(position.partition);
    const newest = Math.max(watermark, this.#watermarks.get(position.partition) ?? watermark);
    this.#watermarks.set(position.partition, newest);
    return [...memories].flatMap(([key, memory]) => {
      const rules = making.book.rulesOf(making.configuration, memory.entity.stream);
      const step = runToCompletion(
        passDeadlines(memory, { position, watermark: newest }, rules, (placed, eventId) =>
          triggerIdOf(making.derive, ruleIdOf(placed), eventId),
        ),
      );
      memories.set(key, step.memory);
      return step.passed.map((passed) => runToCompletion(outputsOfPassed(passed, making)));
    });
  }

  take(event: SourceEvent, { configuration, book, derive }: Making): readonly EvaluatedRule[] {
    const memories = this.#memoriesOf(event.position.partition);
    const watermark = this.#watermarks.get(event.position.partition) ?? event.appendedAt;
    const states = {
      turn(keyed: KeyedEvent) {
        const memory = memories.get(keyed.key) ?? emptyMemory(entityOf(keyed));
        return isKnown(memory, keyed) ? null : startTurn(memory, keyed, watermark);
      },
      put: (keyed: KeyedEvent, memory: EntityMemory) => void memories.set(keyed.key, memory),
    };
    return runToCompletion(
      evaluateEventCoroutine(event, configuration, book, derive, { runId: null, states, watermark }),
    );
  }
}

export async function expectedOf(world: World, { codecs, compile, templates, ids }: Shared): Promise<Expected> {
  const { log, scheduler } = world;
  const clock = { now: scheduler.now };
  const view = createConfigurationView(log.connect(createDirectWire()), codecs.configuration, clock);
  const book = createRuleBook(compile, templates);
  const intents = new Map<string, Intent[]>();
  const triggers = new Map<string, Trigger[]>();
  const judged: Judged[][] = Array.from({ length: log.partitions('carillon.events') }, () => []);
  const numbers = judged.map(() => -1);
  const entities = new Entities();

  for (const record of log.all('carillon.events')) {
    const read = readSourceRecord(record, log.logId);
    const isBroken = world.broken.has(placeOf(world, record));
    if (!read.ok && !isBroken) throw new Error(`${placeOf(world, record)}: ${read.error.detail}`);
    const before = numbers[record.partition] ?? -1;
    const source = read.ok ? read.value : null;
    const marker = source?.kind === 'marker' ? source.configNumber : before;
    const configNumber = Math.max(before, marker);
    numbers[record.partition] = configNumber;
    const event = source?.kind === 'event' ? source.event : null;
    const making = { book, derive: ids.derive, runId: null };
    const passing = { position: { ...record, logId: log.logId }, watermark: record.time };
    const made = [
      ...(before < 0 ? [] : entities.pass(passing, { ...making, configuration: await view.at(before) })),
      ...(event ? entities.take(event, { ...making, configuration: await view.at(configNumber) }) : []),
    ];
    for (const one of made.flatMap((judgement) => judgement.intents)) add(intents, one.id, one);
    for (const one of made.flatMap((judgement) => judgement.triggers)) add(triggers, one.id, one);
    judged[record.partition]?.push({ eventId: event?.id ?? null, isBroken, configNumber });
  }

  const firstLookups = new Map<string, string>();
  for (const { record, value } of decodeAll(world, 'carillon.lookups', codecs.lookup)) {
    const { id, configNumber } = value.trigger;
    if (firstLookups.has(id)) continue;
    firstLookups.set(id, placeOf(world, record));
    const resolved = resolveLookup(value, await view.at(configNumber), book, ids.derive);
    if (!resolved.ok) throw new Error(resolved.error);
    for (const intent of resolved.value.intents) add(intents, intent.id, intent);
  }
  return { judged, intents, triggers, firstLookups, ...cohortsOf(world, codecs, ids) };
}

/** Who is in after every message, and the events that came of it. */
function cohortsOf(
  world: World,
  codecs: Shared['codecs'],
  ids: Shared['ids'],
): Pick<Expected, 'entered' | 'members' | 'settling'> {
  const members = new Map<string, CohortMember>();
  const entered = new Set<string>();
  let cohort: Cohort | null = null;

  function apply(record: CohortRecord): Applied | null {
    if (isApplied(cohort, record)) return null;
    if (record.message.action !== 'settle') return applyCohortMessage(cohort, record, (user) => members.get(user));
    const due = dueChunk(cohort, record);
    const outdated = [...members.values()].filter(({ inside, newest }) => inside && due && isBefore(newest, due.order));
    return settleCohort(cohort, record, outdated, false);
  }

  for (const { record, value: message } of decodeAll(world, 'carillon.cohorts', codecs.cohort)) {
    const applied = apply({ ...record, message, at: record.time, logId: world.log.logId });
    if (!applied) continue;
    cohort = applied.cohort;
    for (const member of applied.members) members.set(member.user, member);
    for (const { user, kind } of applied.changes) {
      entered.add(ids.derive('event', 'cohort', cohortKey(message), user, kind, message.id));
    }
  }
  const inside = [...members.values()].filter((member) => member.inside);
  return {
    entered,
    members: new Set(inside.map(({ user }) => user)),
    settling: (cohort?.settling ?? null) !== null,
  };
}
