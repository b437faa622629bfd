import { createRecordCodecs } from '@carillon/contracts';
import { DELIVERY_STATES, type Delivery, type Intent, type Outcome } from '@carillon/domain/deliveries';
import { formatPosition, type Evaluation } from '@carillon/domain/events';
import type { Lookup, Trigger } from '@carillon/domain/lookups';
import type { Instant, Result } from '@carillon/kernel';
import type {
  CheckpointStore,
  DeliveryLedger,
  DueTasks,
  EventLog,
  LogRecord,
  RecordCodecs,
  SchemaRegistry,
  TopicName,
} from '@carillon/ports';

/** An answer of the partner, and when it came on the log. */
export type RecordedLookup = { readonly lookup: Lookup; readonly at: Instant };

/** The event that the product made of somebody who entered or left the cohort. */
export type RecordedChange = { readonly eventId: string; readonly kind: 'entered' | 'left'; readonly user: string };

/** A record that a stage gave up, and the event that it is about, where it is a trigger. */
export type RecordedLetter = { readonly what: string; readonly eventId: string | null };

/** What a stopped product left behind: its log and its ledger, read whole. */
export type Evidence = {
  /** Ids of the events on the log, by where they stand (`carillon.events/0@1`); one that came again stands there again. */
  readonly events: ReadonlyMap<string, string>;
  /** In the order of the log; an event that was made again stands there again. */
  readonly changes: readonly RecordedChange[];
  readonly triggers: readonly Trigger[];
  readonly lookups: readonly RecordedLookup[];
  readonly intents: readonly Intent[];
  readonly deliveries: readonly Delivery[];
  readonly outcomes: readonly Outcome[];
  readonly evaluations: readonly Evaluation[];
  readonly deadLetters: readonly RecordedLetter[];
  /** How far each partition of `carillon.events` is judged: the engine's saved positions. */
  readonly judged: readonly { readonly partition: number; readonly start: number; readonly next: number }[];
  /** What was left to do when the product stopped: partitions not read to their end, and partners not asked. */
  readonly unread: readonly string[];
};

/** Where a product keeps what it knows, on either backend. */
export type Stores = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly checkpoints: CheckpointStore;
  readonly tasks: Pick<DueTasks, 'dueQueues'>;
  readonly registry: SchemaRegistry;
};

type RecordsAndLedger = Omit<Stores, 'registry'>;

const PAGE = 1000;

async function readTopic({ log }: RecordsAndLedger, topic: TopicName): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    let from = 0;
    for (;;) {
      const page = await log.read(topic, partition, from, PAGE);
      const last = page.at(-1);
      if (!last) break;
      records.push(...page);
      from = last.offset + 1;
    }
  }
  return records;
}

/** One state after the other, as lists are quick by it. Nothing moves: the product is stopped. */
async function readDeliveries({ ledger }: RecordsAndLedger): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  for (const state of DELIVERY_STATES) {
    let cursor: string | undefined;
    do {
      const page = await ledger.list({ states: [state] }, PAGE, cursor);
      deliveries.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }
  return deliveries;
}

type Place = { readonly partition: number; readonly start: number; readonly next: number; readonly end: number };

const readPlaces = (
  { log, checkpoints }: RecordsAndLedger,
  group: string,
  topic: TopicName,
): Promise<readonly Place[]> =>
  Promise.all(
    Array.from({ length: log.partitions(topic) }, async (_, partition) => {
      const next = (await checkpoints.load(group, topic, partition))?.next ?? 0;
      return { partition, next, ...(await log.bounds(topic, partition)) };
    }),
  );

export const unreadOf = (places: readonly Place[], what: string): readonly string[] =>
  places
    .filter(({ next, end }) => next < end)
    .map(({ partition, next, end }) => `${what}/${partition}: ${next} of ${end} read`);

type Decode<Value> = { readonly decode: (bytes: Uint8Array) => Result<Value, { readonly detail: string }> };

function decode<Value>(record: LogRecord, codec: Decode<Value>): Value {
  const decoded = codec.decode(record.value);
  if (!decoded.ok) throw new Error(`${record.topic}/${record.partition}@${record.offset}: ${decoded.error.detail}`);
  return decoded.value;
}
const decodeAll = <Value>(records: readonly LogRecord[], codec: Decode<Value>): readonly Value[] =>
  records.map((record) => decode(record, codec));

/** Every stage that has to come to the end of a topic. */
export const READERS: readonly (readonly [string, TopicName])[] = [
  ['engine', 'carillon.events'],
  ['engine', 'carillon.cohorts'],
  ['engine', 'carillon.triggers'],
  ['engine', 'carillon.lookups'],
  ['delivery', 'carillon.intents'],
  ['delivery', 'carillon.receipts'],
  ['delivery', 'carillon.consents'],
];

/** Who makes of the log what people look up. */
export const PROJECTIONS: readonly (readonly [string, TopicName])[] = [
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
  ['control', 'carillon.evaluations'],
  ['control', 'carillon.dead-letters'],
];

async function readUnreadBy(readers: typeof READERS, stores: Stores): Promise<readonly string[]> {
  const unread = await Promise.all(
    readers.map(async ([group, topic]) => unreadOf(await readPlaces(stores, group, topic), `${group} on ${topic}`)),
  );
  return unread.flat();
}

/** What is still to come of what has ended: projections behind the log, and outcomes that are in the ledger alone. */
export async function readBehind(stores: Stores): Promise<readonly string[]> {
  const unpublished = await stores.ledger.unpublished(Number.MAX_SAFE_INTEGER, PAGE);
  return [
    ...(await readUnreadBy(PROJECTIONS, stores)),
    ...unpublished.map(({ id }) => `${id}: an outcome is not on the log`),
  ];
}

/** What is under way by itself, calls with a lease aside: partitions that somebody has not read, and outcomes in the ledger alone. */
export const readUnsettled = async (stores: Stores): Promise<readonly string[]> => [
  ...(await readUnreadBy(READERS, stores)),
  ...(await readBehind(stores)),
];

/** Where the stages stand, and whether anybody is still to be asked. */
async function readProgress(stores: RecordsAndLedger): Promise<Pick<Evidence, 'judged' | 'unread'>> {
  const places = await Promise.all(
    READERS.map(async ([group, topic]) => ({ topic, read: await readPlaces(stores, group, topic) })),
  );
  const open = await stores.tasks.dueQueues(Number.MAX_SAFE_INTEGER);
  return {
    judged: places.find(({ topic }) => topic === 'carillon.events')?.read ?? [],
    unread: [
      ...places.flatMap(({ topic, read }) => unreadOf(read, topic)),
      ...open.map(({ workspace, name }) => `ask ${workspace}/${name}: open`),
    ],
  };
}

const changeOf = ({ headers, value }: LogRecord): readonly RecordedChange[] => {
  if (headers['kind'] !== 'event' || !headers['principal']?.startsWith('integration:')) return [];
  const { change, user_id: user } = JSON.parse(Buffer.from(value).toString('utf8')) as Record<string, string>;
  return [{ eventId: headers['event_id'] ?? '', kind: change === 'left' ? 'left' : 'entered', user: user ?? '' }];
};

/** Where an event stands, and its id; markers and ticks have none. */
const placeOf = (record: LogRecord, { logId }: EventLog): readonly (readonly [string, string])[] =>
  record.headers['kind'] === 'event' ? [[formatPosition({ ...record, logId }), record.headers['event_id'] ?? '']] : [];

/** What is left to do: partitions that a stage has not read to their end, and partners that are to be asked. */
export const readUnread = async (stores: Stores): Promise<readonly string[]> => (await readProgress(stores)).unread;

/** Reads what a stopped product left behind. */
export const readEvidence = async (stores: Stores): Promise<Evidence> =>
  readEvidenceWith(await createRecordCodecs(stores.registry, Date.now), stores);

/** Reads the records for which `isReadable` returns true. */
export async function readEvidenceWith(
  codecs: RecordCodecs,
  stores: RecordsAndLedger,
  isReadable: (record: LogRecord) => boolean = () => true,
): Promise<Evidence> {
  const read = async (topic: TopicName): Promise<readonly LogRecord[]> =>
    (await readTopic(stores, topic)).filter(isReadable);
  const events = await read('carillon.events');
  const lookups = await read('carillon.lookups');
  return {
    ...(await readProgress(stores)),
    events: new Map(events.flatMap((record) => placeOf(record, stores.log))),
    changes: events.flatMap(changeOf),
    triggers: decodeAll(await read('carillon.triggers'), codecs.trigger),
    lookups: lookups.map((record) => ({ lookup: decode(record, codecs.lookup), at: record.time })),
    intents: decodeAll(await read('carillon.intents'), codecs.intent),
    deliveries: await readDeliveries(stores),
    outcomes: decodeAll(await read('carillon.outcomes'), codecs.outcome),
    evaluations: decodeAll(await read('carillon.evaluations'), codecs.evaluation),
    deadLetters: decodeAll(await read('carillon.dead-letters'), codecs.deadLetter).map((letter) => {
      const trigger = letter.topic === 'carillon.triggers' ? codecs.trigger.decode(letter.value) : null;
      return { what: `${letter.stage} ${letter.reason}`, eventId: trigger?.ok ? trigger.value.eventId : null };
    }),
  };
}

/** Triggers that were answered, and records of the same answer beyond the first of each: those are superseded. */
export function countLookups({ lookups }: Evidence): { readonly lookups: number; readonly lookupsRepeated: number } {
  const triggers = new Set(lookups.map(({ lookup }) => lookup.trigger.id)).size;
  return { lookups: triggers, lookupsRepeated: lookups.length - triggers };
}
