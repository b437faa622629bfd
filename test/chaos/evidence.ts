import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { Delivery, Evaluation, Intent, Outcome } from '@carillon/domain';
import type { Result } from '@carillon/kernel';
import type { LogRecord, TopicName } from '@carillon/ports';

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

const PAGE = 1000;

async function readTopic(data: Embedded, topic: TopicName): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (let partition = 0; partition < data.log.partitions(topic); partition += 1) {
    let from = 0;
    for (;;) {
      const page = await data.log.read(topic, partition, from, PAGE);
      const last = page.at(-1);
      if (!last) break;
      records.push(...page);
      from = last.offset + 1;
    }
  }
  return records;
}

async function readDeliveries(data: Embedded): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await data.ledger.list({}, PAGE, cursor);
    deliveries.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return deliveries;
}

type Place = { readonly partition: number; readonly start: number; readonly next: number; readonly end: number };

async function readPlaces(data: Embedded, group: string, topic: TopicName): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (let partition = 0; partition < data.log.partitions(topic); partition += 1) {
    const next = (await data.checkpoints.load(group, topic, partition))?.next ?? 0;
    places.push({ partition, next, ...(await data.log.bounds(topic, partition)) });
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

/** Opens the data folder of a stopped product as its next start would, and reads what is there. */
export async function readEvidence(dataDir: string): Promise<Evidence> {
  const data = await openEmbedded({ dataDir, clock: systemClock, holder: 'crash test' });
  try {
    const codecs = await createRecordCodecs(data.registry);
    const events = await readTopic(data, 'carillon.events');
    const judged = await readPlaces(data, 'engine', 'carillon.events');
    const inCustody = await readPlaces(data, 'delivery', 'carillon.intents');
    return {
      events: new Set(events.flatMap(({ headers }) => headers['event_id'] ?? [])),
      intents: decodeAll(await readTopic(data, 'carillon.intents'), codecs.intent),
      deliveries: await readDeliveries(data),
      outcomes: decodeAll(await readTopic(data, 'carillon.outcomes'), codecs.outcome),
      evaluations: decodeAll(await readTopic(data, 'carillon.evaluations'), codecs.evaluation),
      deadLetters: (await readTopic(data, 'carillon.dead-letters')).length,
      judged,
      unread: [...unreadOf(judged, 'carillon.events'), ...unreadOf(inCustody, 'carillon.intents')],
    };
  } finally {
    await data.close();
  }
}
