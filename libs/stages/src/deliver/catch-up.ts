import type { CheckpointStore, EventLog, TopicName } from '@carillon/ports';

/**
 * What people and providers said that the store may not know, where it was put back from a backup: opt-outs, and STOP, bounces
 * and complaints about attempts that the store knows. Sending begins when all of it that is on the log has been read. What is said of
 * attempts that were made after the backup is parked, and suppresses nobody: the doctor counts it.
 */
export const READ_BEFORE_SENDING = ['carillon.consents', 'carillon.receipts'] as const;

export type CatchUpPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'bounds'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
};

export type CatchUp = {
  /**
   * How many records the group has still to read of those that were on the log when this was made; 0 from the moment on when it has
   * read all of them, whoever of the group did. Rejects where log or store cannot be asked.
   */
  behind(): Promise<number>;
  /** Where something was left when that was asked last, as `carillon.receipts/3`. */
  places(): readonly string[];
};

type Span = { readonly topic: TopicName; readonly partition: number; readonly start: number; readonly end: number };

/**
 * Follows how a group reads what stands in these topics now. What is appended later does not count, so that the wait for it ends.
 * Every process of the group moves the same checkpoints, and a process that dies leaves them where they are: one that starts
 * again waits for what is left.
 */
export async function createCatchUp(
  group: string,
  topics: readonly TopicName[],
  { log, checkpoints }: CatchUpPorts,
): Promise<CatchUp> {
  const places = topics.flatMap((topic) =>
    Array.from({ length: log.partitions(topic) }, (_, partition) => ({ topic, partition })),
  );
  let open: readonly Span[] = await Promise.all(
    places.map(async ({ topic, partition }) => ({ topic, partition, ...(await log.bounds(topic, partition)) })),
  );

  async function leftIn({ topic, partition, start, end }: Span): Promise<number> {
    const stored = await checkpoints.load(group, topic, partition);
    // A position of another log says nothing about this one: the consumer stands still there until a person has looked.
    const next = stored?.logId === log.logId ? stored.next : 0;
    // Neither does one beyond the end: the topic was made anew, or cut short, under the same name.
    const isBeyond = next > end && next > (await log.bounds(topic, partition)).end;
    if (isBeyond) return Math.max(1, end - start);
    return Math.max(0, end - Math.max(next, start));
  }

  return {
    async behind() {
      const left = await Promise.all(open.map(leftIn));
      open = open.filter((_, at) => (left[at] ?? 0) > 0);
      return left.reduce((sum, one) => sum + one, 0);
    },
    places: () => open.map(({ topic, partition }) => `${topic}/${partition}`),
  };
}
