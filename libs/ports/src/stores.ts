import type { CheckpointStore } from './checkpoints.ts';
import type { CohortStore } from './cohort-store.ts';
import type { ConfigurationStore, LeaseStore } from './configuration-store.ts';
import type { DeliveryLedger } from './delivery-ledger.ts';
import type { Documents } from './documents.ts';
import type { DueTasks } from './due-tasks.ts';
import type { KeyUseStore } from './key-uses.ts';
import type { LookupClaims } from './lookup-claims.ts';
import type { ReadModels } from './read-models.ts';
import type { RuleStateStore } from './rule-states.ts';
import type { SuppressionList } from './suppression-list.ts';

/** Stores of a backend besides the log. Processes that share a backend share all of them. */
export type BackendStores = {
  readonly documents: Documents;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: RuleStateStore;
  readonly cohorts: CohortStore;
  readonly tasks: DueTasks;
  readonly claims: LookupClaims;
  readonly ledger: DeliveryLedger;
  readonly suppressions: SuppressionList;
  readonly configurationStore: ConfigurationStore;
  readonly leases: LeaseStore;
  readonly readModels: ReadModels;
  readonly keyUses: KeyUseStore;
};
