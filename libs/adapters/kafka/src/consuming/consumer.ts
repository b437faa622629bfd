import { setTimeout as pause } from 'node:timers/promises';
import type { Duration } from '@carillon/kernel';
import type { ConsumeOptions, Consumption } from '@carillon/ports';
import { createBrokers } from '../connection/cluster.ts';
import type { KafkaConnection } from '../connection/options.ts';
import type { Bounds } from '../reading/reader.ts';
import type { Watermarks } from '../watermarks.ts';
import { type Assignment, report, startAssignment } from './assignment.ts';
import { createFetching } from './fetching.ts';
import type { Handovers } from './handovers.ts';
import { type Generation, joinGroup } from './membership.ts';

export type ConsumerSettings = {
  readonly sessionTimeout: Duration;
  readonly heartbeatInterval: Duration;
  /** How long the group waits for handlers to end before it gives their partitions away. */
  readonly rebalanceTimeout: Duration;
  readonly copyInterval: Duration;
  /** A member that stops waits so long for its handlers, and then leaves the group while they end. */
  readonly stopPatience: Duration;
};

export type ConsumerSources = {
  readonly connection: KafkaConnection;
  readonly groupId: string;
  readonly partitionCount: number;
  readonly watermarks: Watermarks;
  readonly handovers: Handovers;
  bounds(partition: number): Promise<Bounds>;
};

/** Where a failure is the consumer's as a whole and not one partition's. */
const WHOLE_CONSUMER = -1;

/**
 * Starts a member of a group, with one worker for each assigned partition. Reading starts at the offset that the worker
 * names.
 */
export async function startConsumer(
  options: ConsumeOptions,
  settings: ConsumerSettings,
  sources: ConsumerSources,
): Promise<Consumption> {
  const { connection, groupId, watermarks, handovers } = sources;
  const bounds = (partition: number): Promise<Bounds> => sources.bounds(partition);
  // Two ways to the brokers: a fetch that waits for records must not hold up a heartbeat.
  const groupBrokers = createBrokers(connection, [options.topic]);
  const fetchBrokers = createBrokers(connection, [options.topic]);
  const fetching = createFetching(options.topic, fetchBrokers, bounds, watermarks);
  const running = new Set<Assignment>();
  const ends = new Set<Promise<void>>();
  let current: Generation | null = null;
  let copied = new Map<number, number>();
  let stopping: Promise<void> | null = null;

  function begin(generation: Generation): void {
    // A member that was expelled joins anew by itself, also while it is asked to end.
    if (stopping) return;
    current = generation;
    copied = new Map();
    for (const partition of generation.partitions) {
      const place = `${groupId}/${partition}`;
      const assignment = startAssignment(options, partition, { fetching, bounds }, handovers.before(place));
      running.add(assignment);
      const ended = handovers.hold(place, assignment.ended);
      ends.add(ended);
      void ended.finally(() => ends.delete(ended));
    }
  }

  async function giveBack(): Promise<void> {
    const own = [...running];
    const patience = new AbortController();
    const drained = Promise.all(own.map((assignment) => assignment.end()));
    const late = pause(settings.rebalanceTimeout * 0.8, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([drained, late]);
    patience.abort();
    await copyPositions();
    forfeit();
  }

  function forfeit(): void {
    for (const assignment of running) assignment.forfeit();
    running.clear();
    current = null;
  }

  async function copyPositions(): Promise<void> {
    if (!current) return;
    const positions = new Map<number, number>();
    for (const assignment of running) {
      const { partition } = assignment;
      const next = assignment.position();
      if (next !== null && copied.get(partition) !== next) positions.set(partition, next);
    }
    for (const [partition, next] of positions) copied.set(partition, next);
    await membership.copyPositions(current, positions);
  }

  const membership = joinGroup(groupBrokers, {
    groupId,
    topic: options.topic,
    partitionCount: sources.partitionCount,
    sessionTimeout: settings.sessionTimeout,
    heartbeatInterval: settings.heartbeatInterval,
    rebalanceTimeout: settings.rebalanceTimeout,
    assigned: begin,
    revoke: giveBack,
    expelled: forfeit,
    failed: (error) => report(options, WHOLE_CONSUMER, error),
  });
  const copying = setInterval(() => void copyPositions(), settings.copyInterval);

  async function stop(): Promise<void> {
    clearInterval(copying);
    const own = [...running];
    const ended = Promise.all(own.map((assignment) => assignment.end()));
    const patience = new AbortController();
    const late = pause(settings.stopPatience, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([ended, late]);
    patience.abort();
    await copyPositions();
    await membership.leave();
    await Promise.all([ended, ...ends]);
    for (const assignment of running) assignment.forfeit();
    fetching.close();
    fetchBrokers.close();
    groupBrokers.close();
  }

  const consumption: Consumption = {
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
  try {
    await membership.joined;
  } catch (error) {
    await consumption.stop();
    throw error;
  }
  return consumption;
}
