import type { Configuration } from '@carillon/domain/configuration';
import { hashedEntry, holdsAddress, namesPersonAt, wordsName, type ErasureMatcher } from '@carillon/domain/erasures';
import type { DeadLetter, RuleTally } from '@carillon/domain/events';
import type { Lookup, Trigger } from '@carillon/domain/lookups';
import type { Json } from '@carillon/kernel';
import {
  isErased,
  type ConfigurationView,
  type ErasureWork,
  type EventLog,
  type LogRecord,
  type RecordCodec,
  type RecordCodecs,
  type RecordVerdict,
} from '@carillon/ports';
import { readSourceRecord } from '../append/source-record.ts';
import { decodeRecord } from '../decode-record.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';
import { personPaths, type PersonPaths } from './event-paths.ts';

export type ErasurePorts = {
  readonly log: Pick<EventLog, 'logId'>;
  readonly configuration: Pick<ConfigurationView, 'at' | 'current'>;
  readonly codecs: RecordCodecs;
  readonly book: RuleBook;
};

/**
 * Returns what says of each record whether it is of the person. An address matches anywhere in a record. A user id matches only where rules
 * name people, by the newest configuration or the one by which the event was evaluated, because the same text may be an amount elsewhere.
 * States are judged after the log, because its markers say which configurations there were.
 * Rejects if a configuration cannot be read, because events of the person could be missed without it.
 */
export function createErasureWork(matcher: ErasureMatcher, ports: ErasurePorts): ErasureWork {
  const { book, codecs, configuration, log } = ports;
  const current = configuration.current();
  /** Configuration of the newest marker read, by partition of `carillon.events`. */
  const marked = new Map<number, Configuration>();
  const remembered = new WeakMap<Configuration, Map<string, PersonPaths>>();
  /** The newest configuration, and all by which events that were judged had been evaluated. */
  const known = new Set([current]);
  /** What all of these say of a stream. States do not say by which of them they came about. */
  const ofAny = new Map<string, PersonPaths>();

  function mark(partition: number, evaluatedBy: Configuration): void {
    marked.set(partition, evaluatedBy);
    if (!known.has(evaluatedBy)) ofAny.clear();
    known.add(evaluatedBy);
  }

  function pathsOfAny(stream: string): PersonPaths {
    const paths = ofAny.get(stream) ?? personPaths(book, [...known], stream);
    ofAny.set(stream, paths);
    return paths;
  }

  function pathsFor(stream: string, evaluatedBy: Configuration): PersonPaths {
    const byStream = remembered.get(evaluatedBy) ?? new Map<string, PersonPaths>();
    remembered.set(evaluatedBy, byStream);
    const paths = byStream.get(stream) ?? personPaths(book, [...new Set([current, evaluatedBy])], stream);
    byStream.set(stream, paths);
    return paths;
  }

  const isEventOf = ({ paths }: PersonPaths, contents: readonly Json[]): boolean => {
    const [body = null] = contents;
    return (
      paths.some((steps) => namesPersonAt(body, steps, matcher)) ||
      contents.some((content) => holdsAddress(content, matcher))
    );
  };

  const isEntityOfPerson: ErasureWork['isEntityOfPerson'] = ({ key, stream }) =>
    matcher.mentions(key) || (pathsOfAny(stream).isKey && matcher.isPerson(key));

  const erasedEvents = new Set<string>();
  const isErasedEvent = (id: string | null): boolean => id !== null && erasedEvents.has(id);

  async function judgeEvent(record: LogRecord): Promise<RecordVerdict> {
    const read = readSourceRecord(record, log.logId);
    if (!read.ok) return judgeBytes(record.value, matcher);
    const source = read.value;
    if (source.kind === 'marker') {
      mark(record.partition, await configuration.at(source.configNumber));
    }
    if (source.kind === 'forget') {
      return matcher.covers(source.entity.workspace) && isEntityOfPerson(source.entity) ? 'erased' : null;
    }
    if (source.kind !== 'event' || !matcher.covers(source.event.workspace)) return null;
    const { body, change, key, stream } = source.event;
    const contents: Json[] = [body, key, change];
    const paths = pathsFor(stream, marked.get(record.partition) ?? current);
    return isEventOf(paths, contents) ? 'erased' : null;
  }

  const derived = createDerivedJudges(matcher, codecs, isErasedEvent);

  async function judge(record: LogRecord): Promise<RecordVerdict> {
    if (record.topic === 'carillon.events') {
      const verdict = isErased(record) ? null : await judgeEvent(record);
      const id = record.headers['event_id'];
      if (id !== undefined && (verdict === 'erased' || isErased(record))) erasedEvents.add(id);
      return verdict;
    }
    if (isErased(record)) return null;
    if (record.topic !== 'carillon.dead-letters') return (await derived[record.topic]?.(record)) ?? null;
    const letter = await decodeRecord(codecs.deadLetter, record.value);
    if (!letter.ok) return judgeBytes(record.value, matcher);
    if (letter.value.workspace !== null && !matcher.covers(letter.value.workspace)) return null;
    const isTheirs = wordsName(letter.value.detail, matcher) || (await judge(recordOf(letter.value))) !== null;
    return isTheirs ? 'erased' : null;
  }

  return {
    matcher,
    judge,
    isOfPerson: ({ body, change }, { key, stream }) => isEventOf(pathsOfAny(stream), [body, key, change]),
    isEntityOfPerson,
    isErasedEvent,
  };
}

/** Returns the record of a dead letter as it stood on the log. */
const recordOf = ({ topic, partition, offset, key, headers, value, at }: DeadLetter): LogRecord => ({
  topic: topic as LogRecord['topic'],
  partition,
  offset,
  key,
  headers,
  value,
  time: at,
});

/** Judges bytes that no reader of this program can read. */
const judgeBytes = (value: Uint8Array, matcher: ErasureMatcher): RecordVerdict =>
  matcher.mentions(new TextDecoder().decode(value)) ? 'erased' : null;

type ValueOf<Kind extends keyof RecordCodecs> = RecordCodecs[Kind] extends RecordCodec<infer Value> ? Value : never;

type Judge = (record: LogRecord) => Promise<RecordVerdict>;

/** Judges of the derived topics that hold something of people. */
function createDerivedJudges(
  matcher: ErasureMatcher,
  codecs: RecordCodecs,
  isErasedEvent: ErasureWork['isErasedEvent'],
): Readonly<Partial<Record<LogRecord['topic'], Judge>>> {
  const { isPerson } = matcher;
  const reading =
    <Kind extends keyof RecordCodecs>(kind: Kind, judge: (value: ValueOf<Kind>) => RecordVerdict): Judge =>
    async ({ value }) => {
      const decoded = await decodeRecord(codecs[kind] as RecordCodecs['intent'], value);
      return decoded.ok ? judge(decoded.value as unknown as ValueOf<Kind>) : judgeBytes(value, matcher);
    };
  const isTrigger = (trigger: Trigger): boolean =>
    matcher.covers(trigger.workspace) && (trigger.userIds.some(isPerson) || holdsAddress(trigger, matcher));
  const isLookup = (lookup: Lookup): boolean =>
    matcher.covers(lookup.trigger.workspace) &&
    (isTrigger(lookup.trigger) ||
      lookup.items.some(({ userId }) => userId !== null && isPerson(userId)) ||
      holdsAddress(lookup.items, matcher));
  return {
    'carillon.triggers': reading('trigger', (trigger) => (isTrigger(trigger) ? 'erased' : null)),
    'carillon.lookups': reading('lookup', (lookup) => (isLookup(lookup) ? 'erased' : null)),
    'carillon.intents': reading('intent', (intent) =>
      matcher.covers(intent.slot.workspace) && (isPerson(intent.person) || holdsAddress(intent, matcher))
        ? 'erased'
        : null,
    ),
    'carillon.outcomes': reading('outcome', (outcome) =>
      matcher.covers(outcome.workspace) &&
      outcome.detail !== '' &&
      (isErasedEvent(outcome.eventId) || wordsName(outcome.detail, matcher))
        ? { value: codecs.outcome.encode({ ...outcome, detail: '' }) }
        : null,
    ),
    'carillon.receipts': reading('receipt', (receipt) => {
      if (receipt.inbound && isPerson(receipt.inbound.address)) return 'erased';
      return wordsName(receipt.detail, matcher) ? { value: codecs.receipt.encode({ ...receipt, detail: '' }) } : null;
    }),
    'carillon.consents': reading('consent', (entry) => {
      if (!matcher.covers(entry.workspace) || !isPerson(entry.person)) return null;
      return { value: codecs.consent.encode(hashedEntry(entry, matcher.nameInstead)) };
    }),
    'carillon.evaluations': reading('evaluation', (evaluation) => {
      const isQuoted = ({ sampleError, sampleEventId, workspace }: RuleTally): boolean =>
        sampleError !== null &&
        matcher.covers(workspace) &&
        (isErasedEvent(sampleEventId) || wordsName(sampleError, matcher));
      if (!evaluation.rules.some(isQuoted)) return null;
      const rules = evaluation.rules.map((tally) => (isQuoted(tally) ? { ...tally, sampleError: null } : tally));
      return { value: codecs.evaluation.encode({ ...evaluation, rules }) };
    }),
    'carillon.cohorts': reading('cohort', (message) => {
      if (!matcher.covers(message.workspace) || !message.userIds.some(isPerson)) return null;
      const isLeft = message.userIds.map((id) => !isPerson(id));
      const userIds = message.userIds.filter((_, at) => isLeft[at]);
      // Times are of the users at the same places.
      const time = Array.isArray(message.time) ? message.time.filter((_, at) => isLeft[at]) : message.time;
      return userIds.length === 0 ? 'erased' : { value: codecs.cohort.encode({ ...message, userIds, time }) };
    }),
  };
}
