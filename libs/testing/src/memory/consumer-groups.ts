import { CarillonError, stopsPartition, type Duration } from '@carillon/kernel';
import type { ConsumeOptions, Consumption, LogRecord, PartitionWorker, TopicName } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** The part of a log that consumers read. */
export type Source = {
  partitions(topic: TopicName): number;
  read(topic: TopicName, partition: number, from: number, records: number, bytes: number): readonly LogRecord[];
  bounds(topic: TopicName, partition: number): { readonly start: number; readonly end: number };
  /** Tells once, when the next record comes. */
  await(topic: TopicName, partition: number, arrived: () => void): void;
};

type Member = { readonly wire: Wire; readonly options: ConsumeOptions; readonly runs: Set<Run>; left: boolean };
/** One assignment. It ends for the group on release, and for its member when the member is informed. */
type Run = {
  readonly member: Member;
  readonly partition: number;
  readonly over: Promise<void>;
  revoked: boolean;
  ended: boolean;
  end(): void;
  finished: Promise<void>;
};
type Group = { readonly topic: TopicName; readonly members: Member[]; readonly owners: Map<number, Run> };

const PAUSE: Duration = 100;

/**
 * Consumer groups of a log with their assignments, as brokers manage them. Members are informed over their wires. A
 * healthy member gives a partition back before another gets it; a `gone` member is not waited for.
 */
export function createConsumerGroups(source: Source) {
  const groups = new Map<string, Group>();

  function assign(group: Group, member: Member, partition: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run: Run = {
      member,
      partition,
      over: promise,
      revoked: false,
      ended: false,
      end() {
        run.ended = true;
        resolve();
      },
      finished: Promise.resolve(),
    };
    group.owners.set(partition, run);
    member.wire.tell(`assigns ${group.topic}/${partition}`, () => {
      if (member.left) run.end();
      member.runs.add(run);
      run.finished = follow(run, source).then(async () => {
        member.runs.delete(run);
        await member.wire.ask('log.release', () => release(group, run), { sure: 'always' });
      });
    });
  }

  function release(group: Group, run: Run): void {
    if (group.owners.get(run.partition) !== run) return;
    group.owners.delete(run.partition);
    balance(group);
  }

  function balance(group: Group): void {
    for (let partition = 0; partition < source.partitions(group.topic); partition += 1) {
      const wanted = group.members[partition % Math.max(1, group.members.length)];
      const run = group.owners.get(partition);
      if (!run && wanted) assign(group, wanted, partition);
      if (run && run.member !== wanted && !run.revoked) {
        run.revoked = true;
        run.member.wire.tell(`revokes ${group.topic}/${partition}`, () => run.end());
      }
    }
  }

  /** Takes away what members over this wire have, and gives it to others, without a word to them. */
  function forget(wire: Wire): readonly { readonly group: Group; readonly member: Member }[] {
    const forgotten = [];
    for (const group of groups.values()) {
      // A leaving member is removed, but may still hold its partitions.
      for (const [partition, run] of group.owners) if (run.member.wire === wire) group.owners.delete(partition);
      for (const member of group.members.filter((one) => one.wire === wire)) {
        group.members.splice(group.members.indexOf(member), 1);
        forgotten.push({ group, member });
      }
      balance(group);
    }
    return forgotten;
  }

  return {
    async join(wire: Wire, options: ConsumeOptions): Promise<Consumption> {
      const name = `${options.topic} ${options.group}`;
      const group = groups.get(name) ?? { topic: options.topic, members: [], owners: new Map<number, Run>() };
      const member: Member = { wire, options, runs: new Set(), left: false };
      const enter = (): void => {
        groups.set(name, group);
        group.members.push(member);
        balance(group);
      };
      const leave = async (): Promise<void> => {
        member.left = true;
        const leaving = (): void => {
          const at = group.members.indexOf(member);
          if (at >= 0) group.members.splice(at, 1);
          balance(group);
        };
        await wire.ask('log.leave', leaving, { sure: 'always' });
        for (const run of member.runs) run.end();
        await Promise.all([...member.runs].map(({ finished }) => finished));
      };
      await wire.ask('log.join', enter, { sure: 'while_there' });
      let stopped: Promise<void> | undefined;
      return { stop: () => (stopped ??= leave()) };
    },
    /** The process at the end of this wire is dead: others get its partitions. */
    gone: (wire: Wire): void => void forget(wire),
    /** The process is thought dead and is not: others get its partitions at once, and it hears of it later. */
    expel(wire: Wire): void {
      for (const { group, member } of forget(wire)) {
        wire.tell(`leaves out of ${group.topic} and lets in again`, () => {
          for (const run of member.runs) run.end();
          if (member.left) return;
          group.members.push(member);
          balance(group);
        });
      }
    },
  };
}
export type ConsumerGroups = ReturnType<typeof createConsumerGroups>;

/** One worker after another, until the assignment ends. */
async function follow(run: Run, source: Source): Promise<void> {
  const { options } = run.member;
  while (!run.ended) {
    let worker: PartitionWorker | null = null;
    let standsStill = false;
    try {
      worker = await options.assigned(run.partition);
      await handOver(run, worker, source);
    } catch (error) {
      standsStill = stopsPartition(error);
      options.failed(run.partition, error);
    }
    await worker?.lost();
    if (standsStill) {
      const left = options.stopped?.(run.partition);
      await run.over;
      left?.();
    } else if (!run.ended) await Promise.race([new Promise((resolve) => setTimeout(resolve, PAUSE)), run.over]);
  }
}

async function handOver(run: Run, worker: PartitionWorker, source: Source): Promise<void> {
  const { options, wire } = run.member;
  const { topic } = options;
  const { partition } = run;
  const { start, end } = await wire.ask('log.bounds', () => source.bounds(topic, partition), { sure: 'while_there' });
  if (worker.from > end) {
    throw new CarillonError('wrong_log', `${topic}/${partition} ends at ${end}, before ${worker.from}`);
  }
  let next = Math.max(worker.from, start);
  while (!run.ended) {
    const arrival = Promise.withResolvers<void>();
    const fetch = () => {
      const { end: endThen } = source.bounds(topic, partition);
      const found = source.read(topic, partition, next, options.maxRecords, options.maxBytes);
      const arrived = (): void => wire.tell(`has news in ${topic}/${partition}`, arrival.resolve);
      if (found.length === 0) source.await(topic, partition, arrived);
      return { records: found, endThen };
    };
    const { records, endThen } = await wire.ask('log.fetch', fetch, {
      sure: 'while_there',
      about: () => `${topic}/${partition}@${next}`,
    });
    if (run.ended) return;
    const last = records.at(-1);
    if (last) {
      await worker.handle(records, () => endThen);
      next = last.offset + 1;
    } else await Promise.race([arrival.promise, run.over]);
  }
}
