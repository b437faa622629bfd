import { setTimeout as pause } from 'node:timers/promises';
import { type Duration, messageOf } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { AssignerProtocol } from 'kafkajs';
import type { Brokers, ProtocolBroker } from '../connection/cluster.ts';
import { isExpulsion, isRebalance, isRefusal } from '../connection/faults.ts';

/** Result of joining the group, valid until the group rebalances. */
export type Generation = {
  readonly id: number;
  readonly memberId: string;
  readonly partitions: readonly number[];
};

export type MembershipOptions = {
  readonly groupId: string;
  readonly topic: TopicName;
  readonly partitionCount: number;
  readonly sessionTimeout: Duration;
  readonly heartbeatInterval: Duration;
  readonly rebalanceTimeout: Duration;
  /** Called after each join. */
  assigned(generation: Generation): void;
  /** The group waits for this member: give everything back, then it joins again. Heartbeats go on meanwhile. */
  revoke(): Promise<void>;
  /** The group went on without this member: others may own its partitions already. */
  expelled(): void;
  /** A failure after which it tries again. */
  failed(error: unknown): void;
};

/** Membership in a consumer group: joins, keeps its place by heartbeats, joins again at each rebalance. */
export type Membership = {
  /** Resolves after the first join; rejects where no repetition can help. */
  readonly joined: Promise<void>;
  /** Commits positions for external lag tools. Carillon does not read them. Ignored after a rebalance. */
  copyPositions(generation: Generation, positions: ReadonlyMap<number, number>): Promise<void>;
  /** Leaves the group. What it held has to be given back before. */
  leave(): Promise<void>;
};

const PROTOCOL = 'carillon-by-number';
const COORDINATOR_TIMEOUT_MS = 5000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
const LEAVE_TIMEOUT_MS = 3000;

type WithCoordinator = <T>(deadline: Duration, work: (coordinator: ProtocolBroker) => Promise<T>) => Promise<T>;
type Ended = 'rebalance' | 'expelled' | 'leaving';

/**
 * Joins a consumer group with our own implementation. That of kafkajs cannot wait for handlers before it revokes
 * partitions, loses its membership while a handler is busy, and stops permanently at transient errors (reasons in
 * docs/decisions). kafkajs provides the wire protocol.
 */
export function joinGroup(brokers: Brokers, options: MembershipOptions): Membership {
  const { groupId, topic } = options;
  const leaving = new AbortController();
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined);
  let memberId = '';

  const withCoordinator: WithCoordinator = (deadline, work) =>
    brokers.use(`group ${groupId}`, deadline, async (cluster) => work(await cluster.findGroupCoordinator({ groupId })));

  /** Resolves when the generation has ended. While `until` is given, a rebalance is no end: everything is being given back. */
  async function beat(generation: Generation, until?: Promise<unknown>): Promise<Ended> {
    let answered = Date.now();
    let done = false;
    void until?.then(() => (done = true));
    while (!leaving.signal.aborted && !done) {
      const ends = [pause(options.heartbeatInterval, undefined, { signal: leaving.signal }).catch(() => undefined)];
      await Promise.race(until ? [...ends, until] : ends);
      if (leaving.signal.aborted || done) break;
      try {
        await withCoordinator(0, (coordinator) =>
          coordinator.heartbeat({ groupId, groupGenerationId: generation.id, memberId }),
        );
        answered = Date.now();
      } catch (error) {
        if (isRebalance(error)) {
          answered = Date.now();
          if (!until) return 'rebalance';
        } else if (isExpulsion(error)) return 'expelled';
        // After this time without a response the coordinator has removed the member.
        else if (Date.now() - answered > options.sessionTimeout) return 'expelled';
      }
    }
    return leaving.signal.aborted ? 'leaving' : 'rebalance';
  }

  async function giveBack(generation: Generation): Promise<void> {
    const returned = options.revoke();
    if ((await beat(generation, returned)) === 'expelled') {
      memberId = '';
      options.expelled();
    }
    await returned;
  }

  async function run(): Promise<void> {
    let delay = FIRST_PAUSE_MS;
    let outSince = Date.now();
    while (!leaving.signal.aborted) {
      try {
        const generation = await join(withCoordinator, memberId, options);
        memberId = generation.memberId;
        delay = FIRST_PAUSE_MS;
        first.resolve();
        if (leaving.signal.aborted) return;
        options.assigned(generation);
        const ended = await beat(generation);
        if (ended === 'rebalance') await giveBack(generation);
        if (ended === 'expelled') {
          memberId = '';
          options.expelled();
        }
        outSince = Date.now();
      } catch (error) {
        if (isRebalance(error)) continue;
        if (isExpulsion(error)) {
          memberId = '';
          continue;
        }
        if (isRefusal(error)) first.reject(error);
        if (leaving.signal.aborted) return;
        // Brokers that restart are no news; a group that cannot be joined for longer is.
        if (isRefusal(error) || Date.now() - outSince > options.sessionTimeout) options.failed(error);
        await pause(delay, undefined, { signal: leaving.signal }).catch(() => undefined);
        delay = Math.min(delay * 2, MAX_PAUSE_MS);
      }
    }
  }

  const running = run().finally(() => first.reject(new Error(`group ${groupId} was left before it was joined`)));
  return {
    joined: first.promise,
    async copyPositions(generation, positions) {
      if (positions.size === 0) return;
      const partitions = [...positions].map(([partition, next]) => ({ partition, offset: String(next) }));
      const request = { groupId, groupGenerationId: generation.id, memberId: generation.memberId };
      await withCoordinator(0, (coordinator) =>
        coordinator.offsetCommit({ ...request, topics: [{ topic, partitions }] }),
      ).catch((error: unknown) => messageOf(error));
    },
    async leave() {
      leaving.abort();
      await Promise.race([running, pause(LEAVE_TIMEOUT_MS)]);
      if (memberId === '') return;
      await withCoordinator(COORDINATOR_TIMEOUT_MS, (coordinator) =>
        coordinator.leaveGroup({ groupId, memberId }),
      ).catch((error: unknown) => messageOf(error));
    },
  };
}

/** Joins the group. `known` is empty for a member that the group does not know yet. */
async function join(withCoordinator: WithCoordinator, known: string, options: MembershipOptions): Promise<Generation> {
  const { groupId, topic } = options;
  const metadata = AssignerProtocol.MemberMetadata.encode({ version: 1, topics: [topic], userData: Buffer.alloc(0) });
  const group = await withCoordinator(0, (coordinator) =>
    coordinator.joinGroup({
      groupId,
      sessionTimeout: options.sessionTimeout,
      rebalanceTimeout: options.rebalanceTimeout,
      memberId: known,
      groupProtocols: [{ name: PROTOCOL, metadata }],
    }),
  );
  const { memberId } = group;
  const assignment =
    group.leaderId === memberId
      ? assign(
          group.members.map((member) => member.memberId),
          options,
        )
      : [];
  const { memberAssignment } = await withCoordinator(0, (coordinator) =>
    coordinator.syncGroup({ groupId, generationId: group.generationId, memberId, groupAssignment: assignment }),
  );
  const decoded = AssignerProtocol.MemberAssignment.decode(memberAssignment);
  return { id: group.generationId, memberId, partitions: decoded?.assignment[topic] ?? [] };
}

/** Assigns the partitions to members by number, so that members differ by at most one partition. */
function assign(
  members: readonly string[],
  { topic, partitionCount }: MembershipOptions,
): { memberId: string; memberAssignment: Buffer }[] {
  const sorted = members.toSorted();
  const all = Array.from({ length: partitionCount }, (_, partition) => partition);
  return sorted.map((member, at) => {
    const own = all.filter((partition) => partition % sorted.length === at);
    const assignment = { [topic]: own };
    return {
      memberId: member,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({
        version: 1,
        assignment,
        userData: Buffer.alloc(0),
      }),
    };
  });
}
