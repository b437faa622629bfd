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
  describeSuppressionList,
} from '@carillon/testing';
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
});
