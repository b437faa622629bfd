import { createHash } from 'node:crypto';
import { readChange } from '@carillon/domain/changes';
import type { Instant } from '@carillon/kernel';
import type { EventLog, LogRecord, TopicName } from '@carillon/ports';
import { digestOfChange, RowHistories } from './table-history.ts';

/** A workspace that reads the table of `table-history.ts`. Few changes notify somebody, so that deliveries keep up. */
export const READING_FILES: Readonly<Record<string, string>> = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/integrations/shop-db.yaml': 'kind: postgres\nurl: { secret: SHOP_DB }\n',
  'workspaces/shop/streams/orders.yaml': 'from: { integration: shop-db, tables: { public.orders: event.id } }\n',
  'workspaces/shop/templates/paid/email.yaml': 'subject: Order {{ id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/paid/email.txt': 'It was {{ previous.status }} and costs {{ total }}.\n',
  'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
channels:
  email: { template: paid }
rules:
  paid:
    stream: orders
    when: changedTo(event.status, "paid") && event.total > 995
    recipients:
      from: event
      to: { email: '"order-" + string(event.id) + "@example.com"' }
      unique_id: event_id
`,
};

/** Reads a topic from its start to its end, each partition in its order. */
export async function* readTopic(
  log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>,
  topic: TopicName,
): AsyncGenerator<readonly LogRecord[]> {
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    let { start: next } = await log.bounds(topic, partition);
    for (;;) {
      const records = await log.read(topic, partition, next, 1000);
      const last = records.at(-1);
      if (last === undefined) break;
      next = last.offset + 1;
      yield records;
    }
  }
}

export type ChangesOnLog = {
  /** What happened to each row, without repeats. */
  readonly changes: RowHistories;
  /** Records that have the event id of an earlier one. They hold the same change. */
  readonly repeats: number;
  /** When each record was appended. */
  readonly times: readonly Instant[];
};

/** Reads the changes on the log. Throws if two records with one event id differ. */
export async function readChangesOnLog(log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>): Promise<ChangesOnLog> {
  const changes = new RowHistories();
  const digests = new Map<string, string>();
  const times: Instant[] = [];
  let repeats = 0;
  for await (const records of readTopic(log, 'carillon.events')) {
    for (const { headers, value, time } of records) {
      if (headers['shape'] !== 'change') continue;
      times.push(time);
      const id = headers['event_id'] ?? '';
      const digest = createHash('sha256').update(value).digest('base64').slice(0, 12);
      const earlier = digests.get(id);
      if (earlier !== undefined) {
        if (earlier !== digest) throw new Error(`two changes have the event id ${id}`);
        repeats += 1;
        continue;
      }
      digests.set(id, digest);
      const change = readChange(value);
      if (!change.ok) throw new Error(change.error.detail);
      const { op, event, previous = null } = change.value;
      changes.add(Number(event['id']), digestOfChange(op, event, previous));
    }
  }
  return { changes, repeats, times };
}
