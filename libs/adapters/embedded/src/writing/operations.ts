import { checkpointWrites } from '../stores/checkpoints.ts';
import { cohortWrites } from '../stores/cohort-store.ts';
import { configurationWrites } from '../stores/configuration-store.ts';
import { deliveryWrites } from '../stores/delivery-ledger.ts';
import { documentWrites } from '../stores/documents.ts';
import { documentsWithRecordsWrites } from '../stores/documents-with-records.ts';
import { taskWrites } from '../stores/due-tasks.ts';
import { claimWrites } from '../stores/lookup-claims.ts';
import { keyUseWrites } from '../stores/key-uses.ts';
import { leaseWrites } from '../stores/leases.ts';
import { readModelWrites } from '../stores/read-models.ts';
import { ruleStateWrites } from '../stores/rule-states.ts';
import { schemaWrites } from '../stores/schema-registry.ts';
import { suppressionWrites } from '../stores/suppression-list.ts';
import { logWrites } from '../log/log-writes.ts';
import { retentionWrites } from '../retention-writes.ts';
import { erasureWrites } from '../erasure/erasure-writes.ts';
import type { Operations, Transaction } from './protocol.ts';

/** Everything that can be written, by name. The names say whose they are, so no two tables share one. */
export const createOperations = (transaction: Transaction): Operations => ({
  ...logWrites(transaction),
  ...checkpointWrites(transaction),
  ...ruleStateWrites(transaction),
  ...cohortWrites(transaction),
  ...taskWrites(transaction),
  ...claimWrites(transaction),
  ...deliveryWrites(transaction),
  ...suppressionWrites(transaction),
  ...configurationWrites(transaction),
  ...documentWrites(transaction),
  ...documentsWithRecordsWrites(transaction),
  ...leaseWrites(transaction),
  ...readModelWrites(transaction),
  ...schemaWrites(transaction),
  ...keyUseWrites(transaction),
  ...retentionWrites(transaction),
  ...erasureWrites(transaction),
});
