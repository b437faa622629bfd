import {
  describeCheckpoints,
  describeCohortStore,
  describeConfigurationStore,
  describeDocuments,
  describeDeliveryLedger,
  describeDueTasks,
  describeEventLog,
  describeKeyUses,
  describeLeases,
  describeLookupClaims,
  describeReadModels,
  describeRuleStates,
  describeSchemaRegistry,
  describeSourceStore,
  describeSuppressionList,
  describeToldMoves,
} from '@carillon/testing';
import { createSourceStore } from '@carillon/stores';
import { sharedEmbedded } from './open-embedded.ts';

const embeddedWith = sharedEmbedded();

describeEventLog(
  'the embedded log',
  embeddedWith(({ log }) => log),
);
describeCheckpoints(
  'the embedded store',
  embeddedWith(({ checkpoints }) => checkpoints),
);
describeRuleStates(
  'the embedded store',
  embeddedWith(({ ruleStates }) => ruleStates),
);
describeDueTasks(
  'the embedded store',
  embeddedWith(({ tasks }) => tasks),
);
describeCohortStore(
  'the embedded store',
  embeddedWith(({ cohorts }) => cohorts),
);
describeLookupClaims(
  'the embedded store',
  embeddedWith(({ claims }) => claims),
);
describeDeliveryLedger(
  'the embedded ledger',
  embeddedWith(({ ledger }) => ledger),
);
describeToldMoves(
  'the embedded ledger',
  embeddedWith(({ ledger, log }) => ({ ledger, log })),
);
describeSuppressionList(
  'the embedded store',
  embeddedWith(({ suppressions }) => suppressions),
);
describeConfigurationStore(
  'the embedded store',
  embeddedWith(({ configurationStore }) => configurationStore),
);
describeDocuments(
  'the embedded store',
  embeddedWith(({ documents }) => documents),
);
describeLeases(
  'the embedded store',
  embeddedWith(({ leases }) => leases),
);
describeReadModels(
  'the embedded store',
  embeddedWith(({ readModels }) => readModels),
);
describeSchemaRegistry(
  'the embedded registry',
  embeddedWith(({ registry }) => registry),
);
describeKeyUses(
  'the embedded store',
  embeddedWith(({ keyUses }) => keyUses),
);
describeSourceStore(
  'the embedded store',
  embeddedWith(({ documents, writeWithRecords, log }) => ({
    sources: createSourceStore(documents, writeWithRecords),
    log,
  })),
  { isOneCommit: true },
);
