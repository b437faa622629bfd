import type { PlannedChange } from '@carillon/configuration';
import { keyOfTopic, TOPICS } from '@carillon/contracts';
import { findResource, readRetention, type Configuration } from '@carillon/domain/configuration';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { Clock, EventLog, TopicName } from '@carillon/ports';
import type { PlanningPorts } from './ports.ts';

type Log = Pick<EventLog, 'partitions' | 'bounds' | 'read'>;
type NotePorts = Pick<PlanningPorts, 'unnamedRetention'> & { readonly log: Log; readonly clock: Pick<Clock, 'now'> };

/** Returns, for each topic whose retention the change names anew or names no longer, how many records of the log are older than that. */
export async function retentionNotes(
  { ref, body }: Pick<PlannedChange, 'ref' | 'body'>,
  current: Configuration,
  { log, clock, unnamedRetention }: NotePorts,
): Promise<readonly string[]> {
  if (ref.kind !== 'deployment') return [];
  const after = body && 'retention' in body ? (body.retention ?? {}) : {};
  const before = findResource(current, 'deployment', ref.workspace, ref.name)?.body.retention ?? {};
  const textsBefore = new Map(Object.entries(before));
  const textsAfter = new Map(Object.entries(after));
  const notes: string[] = [];
  for (const topic of TOPICS) {
    const key = keyOfTopic(topic);
    const text = textsAfter.get(key);
    if (text === textsBefore.get(key)) continue;
    const kept = text === undefined ? (unnamedRetention?.[topic] ?? null) : readRetention(text);
    if (kept === null) continue;
    const { records, oldest } = await countOlder(topic, clock.now() - kept, log);
    if (oldest === null) continue;
    const what = `${records.toLocaleString('en')} ${records === 1 ? 'record' : 'records'} of ${topic}`;
    const path = text === undefined ? `the default without retention.${key}` : `retention.${key}`;
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
