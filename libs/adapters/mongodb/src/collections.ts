import type { Collection, Db } from 'mongodb';
import type {
  CheckpointDocument,
  CohortDocument,
  CohortMemberDocument,
  ClaimDocument,
  DeadLetterDocument,
  DeliveryDocument,
  DuplicateDocument,
  EvaluationDocument,
  EventDocument,
  FieldDocument,
  IdentityDocument,
  KeyUseDocument,
  LeaseDocument,
  RuleStateDocument,
  SuppressionDocument,
  TaskDocument,
} from './documents.ts';
import type { CollectionName } from './schema/wanted.ts';

/** Every collection by what it holds; a name that is not in the schema does not compile. */
export const collectionsOf = (db: Db) => {
  const named = <Document extends { readonly _id: string }>(name: CollectionName): Collection<Document> =>
    db.collection<Document>(name);
  return {
    deliveries: named<DeliveryDocument>('deliveries'),
    tasks: named<TaskDocument>('tasks'),
    claims: named<ClaimDocument>('lookup_claims'),
    checkpoints: named<CheckpointDocument>('checkpoints'),
    ruleStates: named<RuleStateDocument>('rule_states'),
    cohorts: named<CohortDocument>('cohorts'),
    cohortMembers: named<CohortMemberDocument>('cohort_members'),
    suppressions: named<SuppressionDocument>('suppressions'),
    identity: named<IdentityDocument>('identity'),
    leases: named<LeaseDocument>('leases'),
    events: named<EventDocument>('events'),
    duplicates: named<DuplicateDocument>('duplicates'),
    deadLetters: named<DeadLetterDocument>('dead_letters'),
    evaluations: named<EvaluationDocument>('evaluations'),
    fields: named<FieldDocument>('fields'),
    keyUses: named<KeyUseDocument>('key_uses'),
  };
};
export type Collections = ReturnType<typeof collectionsOf>;
