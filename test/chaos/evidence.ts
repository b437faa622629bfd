import { createRecordCodecs } from '@carillon/contracts';
import type { Delivery, Evaluation, Intent, Outcome } from '@carillon/domain';
import type { Result } from '@carillon/kernel';
import type { CheckpointStore, DeliveryLedger, EventLog, LogRecord, SchemaRegistry, TopicName } from '@carillon/ports';

/** What a stopped product left behind: its log and its ledger, read whole. */
export type Evidence = {
  /** Ids of the events on the log. */
  readonly events: ReadonlySet<string>;
  readonly intents: readonly Intent[];
  readonly deliveries: readonly Delivery[];
  readonly outcomes: readonly Outcome[];
  readonly evaluations: readonly Evaluation[];
  readonly deadLetters: number;
  /** How far each partition of `carillon.events` is judged: the engine's saved positions. */
  readonly judged: readonly { readonly partition: number; readonly start: number; readonly next: number }[];
  /** Partitions that a stage had not read to their end when the product stopped. */
  readonly unread: readonly string[];
};

/** Where a product keeps what it knows, on either backend. */
export type Stores = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly checkpoints: CheckpointStore;
  readonly registry: SchemaRegistry;
};

const PAGE = 1000;

async function readTopic({ log }: Stores, topic: TopicName): Promise<readonly LogRecord[]> {
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

async function readDeliveries({ ledger }: Stores): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.list({}, PAGE, cursor);
    deliveries.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return deliveries;
}

type Place = { readonly partition: number; readonly start: number; readonly next: number; readonly end: number };

async function readPlaces({ log, checkpoints }: Stores, group: string, topic: TopicName): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const next = (await checkpoints.load(group, topic, partition))?.next ?? 0;
    places.push({ partition, next, ...(await log.bounds(topic, partition)) });
  }
  return places;
}

const unreadOf = (places: readonly Place[], what: string): readonly string[] =>
  places
    .filter(({ next, end }) => next < end)
    .map(({ partition, next, end }) => `${what}/${partition}: ${next} of ${end} read`);

type Decode<Value> = { readonly decode: (bytes: Uint8Array) => Result<Value, { readonly detail: string }> };

const decodeAll = <Value>(records: readonly LogRecord[], codec: Decode<Value>): readonly Value[] =>
  records.map((record) => {
    const decoded = codec.decode(record.value);
    if (!decoded.ok) throw new Error(`${record.topic}/${record.partition}@${record.offset}: ${decoded.error.detail}`);
    return decoded.value;
  });

/** Where the engine and the custody of deliveries stand. */
async function readProgress(stores: Stores): Promise<Pick<Evidence, 'judged' | 'unread'>> {
  const judged = await readPlaces(stores, 'engine', 'carillon.events');
  const inCustody = await readPlaces(stores, 'delivery', 'carillon.intents');
  return { judged, unread: [...unreadOf(judged, 'carillon.events'), ...unreadOf(inCustody, 'carillon.intents')] };
}

/** Partitions that a stage has not read to their end. */
export const readUnread = async (stores: Stores): Promise<readonly string[]> => (await readProgress(stores)).unread;

/** Reads what a stopped product left behind. */
export async function readEvidence(stores: Stores): Promise<Evidence> {
  const codecs = await createRecordCodecs(stores.registry, Date.now);
  const events = await readTopic(stores, 'carillon.events');
  return {
    ...(await readProgress(stores)),
    events: new Set(events.flatMap(({ headers }) => headers['event_id'] ?? [])),
    intents: decodeAll(await readTopic(stores, 'carillon.intents'), codecs.intent),
    deliveries: await readDeliveries(stores),
    outcomes: decodeAll(await readTopic(stores, 'carillon.outcomes'), codecs.outcome),
    evaluations: decodeAll(await readTopic(stores, 'carillon.evaluations'), codecs.evaluation),
    deadLetters: (await readTopic(stores, 'carillon.dead-letters')).length,
  };
}
