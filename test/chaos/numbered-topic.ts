import { setTimeout as pause } from 'node:timers/promises';
import type { EventLog } from '@carillon/ports';
import kafkajs, { type Admin, type Producer } from 'kafkajs';
import { readTopic } from './changes-on-log.ts';

const PARTITIONS = 4;
/** Few of many events notify somebody, so that deliveries keep up. */
const NOTIFIED_SHARE = 50;
const MAX_RECORDS = 40;
/** A broker of a busy machine may be without a leader for minutes. Repeated sends write no record twice. */
const PATIENT = { retries: 1_000, initialRetryTime: 300, maxRetryTime: 5_000 };
const WRITES_PAUSE_MS = 30;

export type RecordsOnLog = {
  /** Numbers by partition of the topic, without repeats, in the order of the log. */
  readonly numbers: readonly (readonly number[])[];
  /** Records that have the event id of an earlier one. */
  readonly repeats: number;
  /** When each record was appended. */
  readonly times: readonly number[];
};

/** A topic of another program, whose records are numbered by partition. */
export class NumberedTopic {
  readonly name = `orders.${crypto.randomUUID().slice(0, 8)}`;
  readonly #brokers: readonly string[];
  readonly #admin: Admin;
  readonly #producer: Producer;
  readonly #sent = Array.from({ length: PARTITIONS }, () => 0);

  private constructor(brokers: readonly string[]) {
    const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
    this.#brokers = brokers;
    this.#admin = kafka.admin();
    this.#producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, retry: PATIENT });
  }

  static async create(brokers: readonly string[]): Promise<NumberedTopic> {
    const topic = new NumberedTopic(brokers);
    await topic.#admin.connect();
    const topics = [{ topic: topic.name, numPartitions: PARTITIONS }];
    await topic.#admin.createTopics({ topics, waitForLeaders: false });
    await topic.#producer.connect();
    return topic;
  }

  /** A workspace that reads the topic and notifies about a few of its records. */
  files(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    return {
      'workspaces/shop/workspace.yaml': 'name: Shop\n',
      'workspaces/shop/integrations/bus.yaml': `kind: kafka\nbrokers: [${this.#brokers.join(', ')}]\n`,
      'workspaces/shop/streams/orders.yaml': `from: { integration: bus, topics: { ${this.name}: event.partition } }\n`,
      'workspaces/shop/templates/paid/email.yaml': 'subject: Order {{ n }}\nfrom: Shop <shop@example.com>\n',
      'workspaces/shop/templates/paid/email.txt': 'It is paid.\n',
      'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
channels:
  email: { template: paid }
rules:
  paid:
    stream: orders
    when: event.paid
    recipients:
      from: event
      to: { email: '"order-" + string(event.partition) + "-" + string(event.n) + "@example.com"' }
      unique_id: event_id
`,
      ...more,
    };
  }

  /** Writes a few records to a random partition. */
  async #write(): Promise<void> {
    const partition = Math.floor(Math.random() * PARTITIONS);
    const messages = Array.from({ length: 1 + Math.floor(Math.random() * MAX_RECORDS) }, () => {
      const n = this.#sent[partition] ?? 0;
      this.#sent[partition] = n + 1;
      return { partition, value: JSON.stringify({ partition, n, paid: n % NOTIFIED_SHARE === 0 }) };
    });
    await this.#producer.send({ topic: this.name, messages });
  }

  /** Writes records until the returned function is called, which resolves once the last ones are written. */
  keepWriting(): () => Promise<void> {
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await this.#write();
        await pause(WRITES_PAUSE_MS);
      }
    })();
    // The caller of the returned function gets the error.
    writing.catch(() => undefined);
    return () => {
      isOver = true;
      return writing;
    };
  }

  /** Numbers of the records by partition. */
  get numbers(): readonly (readonly number[])[] {
    return this.#sent.map((count) => Array.from({ length: count }, (_, n) => n));
  }

  get count(): number {
    return this.#sent.reduce((sum, count) => sum + count, 0);
  }

  /** Addresses that are notified. */
  get recipients(): readonly string[] {
    return this.numbers.flatMap((numbers, partition) =>
      numbers.filter((n) => n % NOTIFIED_SHARE === 0).map((n) => `order-${partition}-${n}@example.com`),
    );
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
    await this.#admin.disconnect();
  }
}

/** Reads the records of a numbered topic on the log. Throws if two records with one event id differ. */
export async function readNumbersOnLog(log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>): Promise<RecordsOnLog> {
  const numbers = Array.from({ length: PARTITIONS }, (): number[] => []);
  const times: number[] = [];
  const values = new Map<string, string>();
  let repeats = 0;
  for await (const records of readTopic(log, 'carillon.events')) {
    for (const { headers, value, time } of records) {
      if (headers['kind'] !== 'event') continue;
      times.push(time);
      const id = headers['event_id'] ?? '';
      const text = Buffer.from(value).toString();
      const earlier = values.get(id);
      if (earlier !== undefined) {
        if (earlier !== text) throw new Error(`two records have the event id ${id}`);
        repeats += 1;
        continue;
      }
      values.set(id, text);
      const { partition, n } = JSON.parse(text) as { partition: number; n: number };
      numbers[partition]?.push(n);
    }
  }
  return { numbers, repeats, times };
}
