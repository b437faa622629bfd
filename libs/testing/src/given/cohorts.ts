import {
  applyCohortMessage,
  dueChunk,
  isApplied,
  saysLastList,
  settleCohort,
  type Cohort,
  type CohortMember,
  type CohortMessage,
  type CohortRecord,
} from '@carillon/domain/cohorts';
import type { EventId, LogId } from '@carillon/kernel';

export const BUYERS = { workspace: 'shop', integration: 'mixpanel', cohort: 'buyers' } as const;

/** A message about `BUYERS` that adds no members by default. */
export const cohortMessage = (more: Partial<CohortMessage> = {}): CohortMessage => ({
  ...BUYERS,
  id: 'evt_00000000000000000000000001' as EventId,
  name: 'Buyers',
  action: 'add',
  session: null,
  page: null,
  userIds: [],
  time: null,
  skipped: 0,
  firstSync: 3_600_000,
  ...more,
});

/** One page of a replacement. */
export const pageOf = (session: string, number: number, of: number | null, ...userIds: string[]): CohortMessage =>
  cohortMessage({ action: 'replace', session, page: { number, of }, userIds });

/**
 * A cohort as the log builds it: each message has the next position and is a second later. `rollFrom`: number of
 * members from which a message is stored as one roll.
 */
export function givenMembership(rollFrom?: number) {
  const members = new Map<string, CohortMember>();
  const told: string[] = [];
  let cohort: Cohort | null = null;
  let offset = 0;
  let written = 0;
  let looked = 0;
  let dying: number | null = null;

  function take(record: CohortRecord, chunk: number): void {
    if (isApplied(cohort, record)) return;
    const settling = record.message.action === 'settle' ? outdatedOf(record, chunk) : null;
    const applied = settling
      ? settleCohort(cohort, record, settling.slice(0, chunk), settling.length > chunk)
      : applyCohortMessage(cohort, record, memberFor(record), rollFrom);
    if (!applied) return;
    if (dying !== null && applied.members.length > 0) {
      for (const member of applied.members.slice(0, dying)) members.set(member.user, member);
      dying = null;
      take(record, chunk);
      return;
    }
    cohort = applied.cohort;
    for (const member of applied.members) members.set(member.user, member);
    written += applied.members.length;
    for (const { kind, user, firstSync } of applied.changes)
      told.push(`${user} ${kind}${firstSync ? ' at first' : ''}`);
    if (applied.settle === null) return;
    const page = { number: applied.settle, of: null };
    take(recordAt({ ...record.message, action: 'settle', page, userIds: [], skipped: 0 }), chunk);
  }
  /** Members are looked at only where the message has to be compared with them. */
  function memberFor(record: CohortRecord): (user: string) => CohortMember | undefined {
    const isSame = saysLastList(cohort, record);
    return (user) => {
      if (isSame) throw new Error(`${user} was looked at, though the last list was said again`);
      looked += 1;
      return members.get(user);
    };
  }
  function outdatedOf(record: CohortRecord, chunk: number): CohortMember[] {
    const due = dueChunk(cohort, record);
    const old = [...members.values()].filter(
      ({ inside, newest }) =>
        due !== null &&
        inside &&
        (newest.time < due.order.time || (newest.time === due.order.time && newest.offset < due.order.offset)),
    );
    return old.slice(0, chunk + 1);
  }
  function recordAt(message: CohortMessage): CohortRecord {
    offset += 1;
    const digest = JSON.stringify(message.userIds);
    return { message, at: offset * 1000, logId: 'log_1' as LogId, partition: 0, offset, digest };
  }

  return {
    /** Applies a message and returns the resulting membership changes. Leaving members leave at once, in chunks. */
    say(message: CohortMessage, chunk = 1000): readonly string[] {
      const before = told.length;
      take(recordAt(message), chunk);
      return told.slice(before);
    },
    /** The worker dies with the next message that writes members, after so many of them and before the cohort; then it is done again. */
    dies(after: number): void {
      dying = after;
    },
    /** Time passes in the log without a word about this cohort. */
    pass(seconds: number): void {
      offset += seconds;
    },
    cohort: () => cohort,
    /** Documents of members that were written so far. */
    written: () => written,
    /** Looks at members so far; more than one for a member that a message names. */
    looked: () => looked,
    member: (user: string): CohortMember | undefined => members.get(user),
    inside: (): readonly string[] =>
      [...members.values()]
        .filter((one) => one.inside)
        .map((one) => one.user)
        .toSorted(),
  };
}
