import type { ConsumeOptions, Consumption, TopicName, EventLoopSlice } from '@carillon/ports';
import { createArrivals } from './arrivals.ts';
import { runPartition, type RecordSource } from './partition-runner.ts';

/** One consumer in a group, with its assignments, including those that are ending. */
type Member = { readonly options: ConsumeOptions; readonly runs: Set<Run> };
type Run = { readonly member: Member; stop(): Promise<void> };

type Group = {
  readonly topic: TopicName;
  readonly members: Member[];
  readonly running: Map<number, Run>;
  /** Per partition the hand-over under way: the next one waits for it, so no partition ever has two workers. */
  readonly handovers: Map<number, Promise<void>>;
};

export type ConsumerGroups = {
  join(options: ConsumeOptions): Consumption;
  /** Says that records were committed. */
  wake(topic: TopicName, partition: number): void;
  /** Ends the workers of all partitions. Resolves once they have ended, to a function that starts new ones. */
  pause(): Promise<() => void>;
  /** Ends every consumer. */
  stop(): Promise<void>;
};

/**
 * Shares the partitions of a topic among the members of a group, as brokers do, but within this process. A partition
 * moves only after its old worker was told `lost`.
 */
export function createConsumerGroups(
  source: RecordSource & { partitions(topic: TopicName): number; readonly slice: Pick<EventLoopSlice, 'yield'> },
): ConsumerGroups {
  const groups = new Map<string, Group>();
  const arrivals = createArrivals();
  const consumptions = new Set<Consumption>();
  let pauses = 0;

  const ownerOf = (group: Group, partition: number): Member | undefined =>
    pauses > 0 ? undefined : group.members[partition % Math.max(1, group.members.length)];

  function start(group: Group, member: Member, partition: number): void {
    const ending = new AbortController();
    const ended = runPartition(member.options, partition, { ...source, arrivals }, ending.signal);
    const run: Run = {
      member,
      stop() {
        ending.abort();
        return ended;
      },
    };
    group.running.set(partition, run);
    member.runs.add(run);
    void ended.finally(() => member.runs.delete(run));
  }

  async function handOver(group: Group, partition: number): Promise<void> {
    const run = group.running.get(partition);
    if (run && run.member === ownerOf(group, partition)) return;
    if (run) {
      await run.stop();
      group.running.delete(partition);
    }
    const owner = ownerOf(group, partition);
    if (owner) start(group, owner, partition);
  }

  function rebalance(group: Group, topic: TopicName): void {
    for (let partition = 0; partition < source.partitions(topic); partition += 1) {
      const before = group.handovers.get(partition) ?? Promise.resolve();
      group.handovers.set(
        partition,
        before.then(() => handOver(group, partition)),
      );
    }
  }

  return {
    join(options) {
      const name = `${options.topic}\n${options.group}`;
      const group: Group = groups.get(name) ?? {
        topic: options.topic,
        members: [],
        running: new Map(),
        handovers: new Map(),
      };
      groups.set(name, group);
      const member: Member = { options, runs: new Set() };
      group.members.push(member);
      rebalance(group, options.topic);
      let stopped: Promise<void> | null = null;
      const consumption: Consumption = {
        stop() {
          stopped ??= leave();
          return stopped;
        },
      };
      async function leave(): Promise<void> {
        consumptions.delete(consumption);
        group.members.splice(group.members.indexOf(member), 1);
        const ended = [...member.runs].map((run) => run.stop());
        rebalance(group, options.topic);
        await Promise.all(ended);
      }
      consumptions.add(consumption);
      return consumption;
    },
    async pause() {
      pauses += 1;
      for (const group of groups.values()) rebalance(group, group.topic);
      await Promise.all([...groups.values()].flatMap(({ handovers }) => [...handovers.values()]));
      return () => {
        pauses -= 1;
        for (const group of groups.values()) rebalance(group, group.topic);
      };
    },
    wake: (topic, partition) => arrivals.announce(topic, partition),
    async stop() {
      await Promise.all([...consumptions].map((consumption) => consumption.stop()));
    },
  };
}
