import type { Cohort, CohortMember, CohortRef, Order } from '@carillon/domain/cohorts';
import type { FencedWrite } from './checkpoints.ts';
import type { Page } from './read-models.ts';

/**
 * Members of cohorts: one document per cohort and one per user that was ever mentioned. Every write is fenced by the
 * offset of its record and durable when it resolves. Each call touches only the requested documents, so a cohort may
 * have any size.
 */
export type CohortStore = {
  load(ref: CohortRef): Promise<Cohort | null>;
  /** Refused if the stored one has a later record in it, or is of another log or partition; an equal one counts as done. */
  save(cohort: Cohort): Promise<FencedWrite>;
  /** Returns the known members among these users, in any order. */
  members(ref: CohortRef, users: readonly string[]): Promise<readonly CohortMember[]>;
  /**
   * Saves members; each user occurs at most once. `refused`: at least one stored member has a later record and stays
   * unchanged; the others are saved. A member with the same record counts as saved.
   */
  saveMembers(ref: CohortRef, members: readonly CohortMember[]): Promise<FencedWrite>;
  /** Lists members inside the cohort that no message since `before` has named, oldest first. */
  outdated(ref: CohortRef, before: Order, limit: number): Promise<readonly CohortMember[]>;
  /** How many are inside. Takes as long as there are members: for people, not for loops. */
  count(ref: CohortRef): Promise<number>;
  /** Cohorts of an integration, in descending order of their ids. */
  list(workspace: string, integration: string, limit: number, cursor?: string): Promise<Page<Cohort>>;
};
