import {
  describeCheckpoints,
  describeCohortStore,
  describeConfigurationStore,
  describeDocuments,
  describeDeliveryLedger,
  describeDueTasks,
  describeKeyUses,
  describeLeases,
  describeLookupClaims,
  describeReadModels,
  describeRuleStates,
  describeSourceStore,
  describeSuppressionList,
} from '@carillon/testing';
import type { LogId } from '@carillon/kernel';
import { appendBeforeWrite, createSourceStore } from '@carillon/stores';
import { createDirectWire, createMemoryLog } from '@carillon/testing/memory';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedMongo } from './open-mongo.ts';

describeWith('mongodb', 'the stores in MongoDB', () => {
  const mongoWith = sharedMongo();

  describeCheckpoints(
    'the MongoDB store',
    mongoWith(({ checkpoints }) => checkpoints),
  );
  describeRuleStates(
    'the MongoDB store',
    mongoWith(({ ruleStates }) => ruleStates),
  );
  describeDueTasks(
    'the MongoDB store',
    mongoWith(({ tasks }) => tasks),
  );
  describeCohortStore(
    'the MongoDB store',
    mongoWith(({ cohorts }) => cohorts),
  );
  describeLookupClaims(
    'the MongoDB store',
    mongoWith(({ claims }) => claims),
  );
  describeDeliveryLedger(
    'the MongoDB ledger',
    mongoWith(({ ledger }) => ledger),
  );
  describeSuppressionList(
    'the MongoDB store',
    mongoWith(({ suppressions }) => suppressions),
  );
  describeConfigurationStore(
    'the MongoDB store',
    mongoWith(({ configurationStore }) => configurationStore),
  );
  describeDocuments(
    'the MongoDB store',
    mongoWith(({ documents }) => documents),
  );
  describeLeases(
    'the MongoDB store',
    mongoWith(({ leases }) => leases),
  );
  describeReadModels(
    'the MongoDB store',
    mongoWith(({ readModels }) => readModels),
  );
  describeKeyUses(
    'the MongoDB store',
    mongoWith(({ keyUses }) => keyUses),
  );
  const logId = 'log_00000000000000000000000001' as LogId;
  const log = createMemoryLog({ logId, partitions: 8, now: Date.now }).connect(createDirectWire());
  describeSourceStore(
    'the MongoDB store',
    mongoWith(({ documents }) => ({ sources: createSourceStore(documents, appendBeforeWrite(log, documents)), log })),
    { isOneCommit: false },
  );
});
