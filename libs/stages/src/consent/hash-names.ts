import { hashedEntry, hashedName, isHashedName } from '@carillon/domain/erasures';
import type { CheckpointStore, ConsentStore, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';
import { decodeRecord } from '../decode-record.ts';

export type HashNamesPorts = {
  /** Adds the hash to each document that it writes. */
  readonly consents: Pick<ConsentStore, 'list' | 'replace'>;
  readonly log: Pick<EventLog, 'append' | 'bounds' | 'cut' | 'logId' | 'partitions' | 'read'>;
  readonly checkpoints: CheckpointStore;
  readonly codecs: Pick<RecordCodecs, 'consent'>;
  readonly ids: Pick<Ids, 'keyed'>;
};

const TOPIC = 'carillon.consents';
/** Name of the position below which records were checked. */
const READ = 'consent-names';
/** Name of the position below which records were appended again, so that the originals can be removed. */
const REPLACED = 'consent-names-replaced';
const BATCH_SIZE = 500;

/**
 * Replaces records of an earlier release, which name people. Appends every record of such a partition again, with the keyed hash of the
 * person, and leaves the removal to `removeNamedRecords`. Documents of that release get their hash first. Safe to repeat, in any
 * number of processes at once.
 */
export async function hashNamesOnLog(ports: HashNamesPorts): Promise<void> {
  const { log } = ports;
  for (let partition = 0; partition < log.partitions(TOPIC); partition += 1) {
    const read = await positionOf(READ, partition, ports);
    if (read === null) await hashNamesInStore(ports.consents);
    const { start, end } = await log.bounds(TOPIC, partition);
    if (await namesSomebody(partition, Math.max(read ?? 0, start), end, ports)) {
      for await (const records of pagesOf(partition, start, end, ports)) {
        await log.append(await Promise.all(records.map((record) => withHashedName(record, ports))));
      }
      await save(REPLACED, partition, end, ports);
    }
    await save(READ, partition, end, ports);
  }
}

/**
 * Removes the records that were appended again and that the group has read. Resolves to true when none is left. Records that the
 * group has not read stay, because it would report them as lost.
 */
export async function removeNamedRecords(group: string, ports: HashNamesPorts): Promise<boolean> {
  const { log } = ports;
  let left = 0;
  for (let partition = 0; partition < log.partitions(TOPIC); partition += 1) {
    const replaced = (await positionOf(REPLACED, partition, ports)) ?? 0;
    const { start } = await log.bounds(TOPIC, partition);
    if (replaced <= start) continue;
    if (((await positionOf(group, partition, ports)) ?? 0) >= replaced) await log.cut(TOPIC, partition, replaced);
    else left += 1;
  }
  return left === 0;
}

async function positionOf(
  group: string,
  partition: number,
  { checkpoints, log }: Pick<HashNamesPorts, 'checkpoints' | 'log'>,
): Promise<number | null> {
  const stored = await checkpoints.load(group, TOPIC, partition);
  return stored?.logId === log.logId ? stored.next : null;
}

async function save(
  group: string,
  partition: number,
  next: number,
  { checkpoints, log }: HashNamesPorts,
): Promise<void> {
  const { logId } = log;
  await checkpoints.save({ group, topic: TOPIC, partition, logId, next, watermark: 0, configNumber: -1 });
}

async function hashNamesInStore(consents: HashNamesPorts['consents']): Promise<void> {
  for (let cursor: string | undefined; ;) {
    const { items, next } = await consents.list(undefined, BATCH_SIZE, cursor);
    for (const document of items) {
      // A writer that was faster has added the hash.
      if (document.hash === undefined && !isHashedName(document.person))
        await consents.replace({ ...document, version: document.version + 1 });
    }
    if (next === null) return;
    cursor = next;
  }
}

async function* pagesOf(
  partition: number,
  from: number,
  end: number,
  { log }: Pick<HashNamesPorts, 'log'>,
): AsyncGenerator<readonly LogRecord[]> {
  for (let next = from; next < end;) {
    const records = (await log.read(TOPIC, partition, next, BATCH_SIZE)).filter(({ offset }) => offset < end);
    const last = records.at(-1);
    if (!last) return;
    next = last.offset + 1;
    yield records;
  }
}

async function namesSomebody(partition: number, from: number, end: number, ports: HashNamesPorts): Promise<boolean> {
  for await (const records of pagesOf(partition, from, end, ports)) {
    for (const { value } of records) {
      const entry = await decodeRecord(ports.codecs.consent, value);
      if (entry.ok && !isHashedName(entry.value.person)) return true;
    }
  }
  return false;
}

async function withHashedName(record: LogRecord, { codecs, ids }: HashNamesPorts): Promise<NewRecord> {
  const { topic, partition, key, headers, value } = record;
  const entry = await decodeRecord(codecs.consent, value);
  if (!entry.ok || isHashedName(entry.value.person)) return { topic, partition, key, headers, value };
  const hashed = hashedEntry(entry.value, (text) => hashedName(text, (...parts) => ids.keyed(...parts)));
  return { topic, partition, key, headers, value: codecs.consent.encode(hashed) };
}
