import type { PlannedChange } from '@carillon/configuration';
import { keyOfTopic, TOPICS } from '@carillon/contracts';
import { findResource, readRetention, type Configuration } from '@carillon/domain/configuration';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { Clock, EventLog, TopicName } from '@carillon/ports';

type Log = Pick<EventLog, 'partitions' | 'bounds' | 'read'>;

/**
 * Returns, for each topic whose retention the change names anew, how many records of the log are older than that. A topic that is named
 * no longer goes back to its default, and has no note.
 */
export async function retentionNotes(
  { ref, body }: Pick<PlannedChange, 'ref' | 'body'>,
  current: Configuration,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): Promise<readonly string[]> {
  const after = ref.kind === 'deployment' && body && 'retention' in body ? (body.retention ?? {}) : {};
  const before = findResource(current, 'deployment', ref.workspace, ref.name)?.body.retention ?? {};
  const textsBefore = new Map(Object.entries(before));
  const textsAfter = new Map(Object.entries(after));
  const notes: string[] = [];
  for (const topic of TOPICS) {
    const path = `retention.${keyOfTopic(topic)}`;
    const text = textsAfter.get(keyOfTopic(topic));
    if (text === undefined || text === textsBefore.get(keyOfTopic(topic))) continue;
    const kept = readRetention(text);
    if (kept === null) continue;
    const { records, oldest } = await countOlder(topic, clock.now() - kept, log);
    if (oldest === null) continue;
    const what = `${records.toLocaleString('en')} ${records === 1 ? 'record' : 'records'} of ${topic}`;
    notes.push(`${path} removes ${what}, the oldest of ${formatInstant(oldest)}`);
  }
  return notes;
}

/** Counts by offsets: a gap counts like the records that were in it. */
async function countOlder(
  topic: TopicName,
  olderThan: Instant,
  log: Log,
): Promise<{ readonly records: number; readonly oldest: Instant | null }> {
  let records = 0;
  let oldest: Instant | null = null;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const timeAt = async (offset: number): Promise<Instant | undefined> =>
      (await log.read(topic, partition, offset, 1))[0]?.time;
    const { start, end } = await log.bounds(topic, partition);
    const first = start < end ? await timeAt(start) : undefined;
    if (first === undefined || first >= olderThan) continue;
    oldest = Math.min(first, oldest ?? first);
    let [old, young] = [start, end];
    while (young - old > 1) {
      const middle = Math.floor((old + young) / 2);
      const time = await timeAt(middle);
      if (time !== undefined && time < olderThan) old = middle;
      else young = middle;
    }
    records += young - start;
  }
  return { records, oldest };
}
