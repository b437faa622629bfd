import {
  applyCohortMessage,
  cohortKey,
  dueChunk,
  isApplied,
  saysLastList,
  settleCohort,
  type Applied,
  type Cohort,
  type CohortMember,
  type CohortMessage,
  type CohortRecord,
} from '@carillon/domain/cohorts';
import { CarillonError } from '@carillon/kernel';
import type { CohortStore, FencedWrite } from '@carillon/ports';
import { BatchDocuments } from '../batch-documents.ts';

/** Members that are let go at once. */
export const MEMBER_BATCH_SIZE = 1000;

type Open = {
  cohort: Cohort | null;
  readonly ref: CohortMessage;
  /** Everybody of whom the batch speaks, as the batch has left them so far. */
  readonly members: BatchDocuments<CohortMember>;
  /** Reads whomever these name and who was not read yet; nobody for a list that was said last. */
  look(records: readonly CohortRecord[]): Promise<void>;
};

export type MembershipBatch = {
  /** Null if the record changes nothing, because it was applied before or is outdated. */
  apply(record: CohortRecord): Promise<Applied | null>;
  /** Writes members, then cohorts: a cohort that has a record in it stands for all of that record. */
  save(): Promise<FencedWrite>;
};

/**
 * Applies a batch of messages to the stored membership. Nothing is written before `save`. `giveWay` is called between
 * reads and between writes, because a store in this process responds without a return to the event loop.
 */
export async function openMembershipBatch(
  records: readonly CohortRecord[],
  store: CohortStore,
  giveWay: () => Promise<void>,
): Promise<MembershipBatch> {
  const open = new Map<string, Open>();
  for (const [key, group] of Map.groupBy(records, ({ message }) => cohortKey(message))) {
    const [first] = group;
    if (first) open.set(key, await openCohort(first, group, store, giveWay));
  }

  async function settle(record: CohortRecord, { cohort, members, ref }: Open): Promise<Applied | null> {
    const due = dueChunk(cohort, record);
    if (!due) return null;
    const stored = await store.outdated(ref, due.order, MEMBER_BATCH_SIZE);
    const outdated = new Map(stored.map((member) => [member.user, member]));
    for (const member of members.held()) outdated.set(member.user, member);
    return settleCohort(cohort, record, [...outdated.values()], stored.length === MEMBER_BATCH_SIZE);
  }

  async function saveSome(ref: CohortMessage, some: readonly CohortMember[]): Promise<FencedWrite> {
    await giveWay();
    return store.saveMembers(ref, some);
  }

  return {
    async apply(record) {
      const own = open.get(cohortKey(record.message));
      if (!own || isApplied(own.cohort, record)) return null;
      await own.look([record]);
      const applied =
        record.message.action === 'settle'
          ? await settle(record, own)
          : applyCohortMessage(own.cohort, record, (user) => own.members.get(user));
      if (!applied) return null;
      own.cohort = applied.cohort;
      for (const member of applied.members) own.members.put(member);
      return applied;
    },
    async save() {
      for (const { cohort, ref, members } of open.values()) {
        if ((await members.save((some) => saveSome(ref, some))) === 'refused') return 'refused';
        if (cohort && (await store.save(cohort)) === 'refused') return 'refused';
      }
      return 'done';
    },
  };
}

async function openCohort(
  { message, logId }: CohortRecord,
  group: readonly CohortRecord[],
  store: CohortStore,
  giveWay: () => Promise<void>,
): Promise<Open> {
  const cohort = await store.load(message);
  if (cohort && cohort.logId !== logId) {
    throw new CarillonError(
      'wrong_log',
      `the members of ${cohortKey(message)} belong to log ${cohort.logId}, this is ${logId}; ` +
        'restore log and stores from one backup, or start with an empty data folder',
    );
  }
  const members = new BatchDocuments<CohortMember>(({ user }) => user);
  const open: Open = {
    cohort,
    ref: message,
    members,
    async look(records) {
      const compared = records.filter(
        (record) => !isApplied(open.cohort, record) && !saysLastList(open.cohort, record),
      );
      await members.load(
        compared.flatMap((record) => record.message.userIds),
        async (users) => {
          await giveWay();
          return store.members(message, users);
        },
      );
    },
  };
  await open.look(group);
  return open;
}
