/** An index as it has to be. `where`: it holds only documents that have all these fields. */
export type WantedIndex = {
  readonly name: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly unique?: true;
  readonly where?: readonly string[];
};

/** Named here because counting says outright that it is to be used; it holds all that is counted. */
export const BY_STATE = {
  name: 'workspaceState',
  key: { workspace: 1, state: 1, createdAt: 1, _id: 1, notification: 1, person: 1 },
} as const satisfies WantedIndex;

/**
 * Required indexes, including the unique index on slots, which holds even if a changed key derives two ids for a slot.
 * No index deletes documents, because the history of notified people is permanent.
 */
export const WANTED = {
  deliveries: [
    {
      name: 'slot',
      key: { workspace: 1, notificationId: 1, channel: 1, uniqueId: 1 },
      unique: true,
      where: ['uniqueId'],
    },
    { name: 'due', key: { workspace: 1, dueAt: 1 }, where: ['dueAt'] },
    { name: 'next', key: { dueAt: 1 }, where: ['dueAt'] },
    { name: 'waiting', key: { workspace: 1, notificationId: 1, dueAt: 1, _id: 1 }, where: ['dueAt'] },
    { name: 'lease', key: { leaseEnds: 1 }, where: ['leaseEnds'] },
    { name: 'unlisted', key: { unlistedAt: 1 }, where: ['unlistedAt'] },
    { name: 'unpublished', key: { unpublishedSince: 1 }, where: ['unpublishedSince'] },
    { name: 'event', key: { eventId: 1, createdAt: 1, _id: 1 } },
    { name: 'workspace', key: { workspace: 1, createdAt: 1, _id: 1 } },
    BY_STATE,
    { name: 'recipient', key: { recipient: 1, createdAt: 1, _id: 1 } },
    { name: 'uniqueId', key: { uniqueId: 1, createdAt: 1, _id: 1 } },
    { name: 'notification', key: { workspace: 1, notification: 1, createdAt: 1, _id: 1 } },
    { name: 'reason', key: { workspace: 1, reason: 1, createdAt: 1, _id: 1 } },
    { name: 'rule', key: { workspace: 1, rule: 1, createdAt: 1, _id: 1 } },
    { name: 'channel', key: { workspace: 1, channel: 1, createdAt: 1, _id: 1 } },
    { name: 'person', key: { person: 1, createdAt: 1, _id: 1 } },
    { name: 'test', key: { workspace: 1, createdAt: 1, _id: 1, test: 1 }, where: ['test'] },
  ],
  tasks: [
    { name: 'due', key: { kind: 1, dueAt: 1 }, where: ['dueAt'] },
    { name: 'overdue', key: { kind: 1, overdueAt: 1 }, where: ['overdueAt'] },
    { name: 'ended', key: { endedAt: 1 }, where: ['endedAt'] },
  ],
  lookup_claims: [{ name: 'at', key: { at: 1 } }],
  checkpoints: [],
  rule_states: [
    { name: 'due', key: { partition: 1, nextDue: 1 }, where: ['nextDue'] },
    { name: 'forgotten', key: { partition: 1, forgetAt: 1 }, where: ['forgetAt'] },
    { name: 'waits', key: { 'waits.rule': 1, nextDue: 1 }, where: ['nextDue'] },
  ],
  cohorts: [{ name: 'integration', key: { workspace: 1, integration: 1, cohort: 1 } }],
  cohort_members: [
    { name: 'inside', key: { cohortId: 1, insideSince: 1, newestOffset: 1 }, where: ['insideSince'] },
    { name: 'outside', key: { outsideSince: 1 }, where: ['outsideSince'] },
  ],
  suppressions: [
    // Entries of earlier versions have ids without the source: this is what keeps one entry for each.
    { name: 'source', key: { workspace: 1, channel: 1, address: 1, source: 1 }, unique: true },
    { name: 'newest', key: { at: 1, _id: 1 } },
    { name: 'workspace', key: { workspace: 1, at: 1, _id: 1 } },
  ],
  identity: [],
  leases: [{ name: 'until', key: { until: 1 } }],
  events: [
    { name: 'id', key: { id: 1 } },
    { name: 'newest', key: { at: 1, partition: 1, offset: 1 } },
    { name: 'workspace', key: { workspace: 1, at: 1, partition: 1, offset: 1 } },
    { name: 'stream', key: { stream: 1, at: 1, partition: 1, offset: 1 } },
    { name: 'trace', key: { traceId: 1, at: 1, partition: 1, offset: 1 } },
  ],
  duplicates: [
    { name: 'event', key: { eventId: 1 } },
    { name: 'delivery', key: { deliveryId: 1 } },
    { name: 'newest', key: { at: 1, _id: 1 } },
    { name: 'workspace', key: { workspace: 1, at: 1, _id: 1 } },
  ],
  dead_letters: [
    { name: 'newest', key: { at: 1, _id: 1 } },
    { name: 'workspace', key: { workspace: 1, at: 1, _id: 1 } },
    { name: 'stage', key: { stage: 1, at: 1, _id: 1 } },
  ],
  evaluations: [
    { name: 'rule', key: { workspace: 1, rule: 1, hasFailures: 1, writtenAt: 1, partition: 1, from: 1 } },
    { name: 'written', key: { writtenAt: 1 } },
  ],
  fields: [
    { name: 'stream', key: { stream: 1, partition: 1 } },
    { name: 'last', key: { lastAt: 1 } },
  ],
  key_uses: [],
} as const satisfies Record<string, readonly WantedIndex[]>;

export type CollectionName = keyof typeof WANTED;

/** Indexes by the name of their collection. */
export type WantedSchema = Readonly<Record<string, readonly WantedIndex[]>>;
