import type { LogId } from '@carillon/kernel';
import {
  describeChannelSender,
  receivedEmail,
  describeCheckpoints,
  describeCohortStore,
  describeConfigurationStore,
  describeDeliveryLedger,
  describeDocuments,
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
  type UnderTest,
} from '../../src/index.ts';
import {
  createDirectWire,
  createMemoryCheckpoints,
  createMemoryClaims,
  createMemoryCohorts,
  createMemoryConfigurationStore,
  createMemoryDocuments,
  createMemoryKeyUses,
  createMemoryLeases,
  createMemoryLedger,
  createMemoryLog,
  createMemoryProvider,
  createMemoryReadModels,
  createMemoryRegistry,
  createMemoryRuleStates,
  createMemoryStores,
  createMemorySuppressions,
  createMemoryTasks,
  type Wire,
} from '../../src/memory/index.ts';

const NAME = 'memory, over a wire that loses nothing,';

/** Gives the port its own wire, which the test can cut. */
const cuttable = <Port>(connect: (wire: Wire) => Port): UnderTest<Port> => {
  const wire = createDirectWire();
  return {
    port: connect(wire),
    faults: {
      breakWrites: async () => void (wire.cut = true),
      mendWrites: async () => void (wire.cut = false),
      loseAnswers: (share) => void (wire.lostShare = share),
    },
    close: async () => undefined,
  };
};

/** A port of something new. */
const over =
  <Port>(make: () => { connect(wire: Wire): Port }) =>
  async (): Promise<UnderTest<Port>> =>
    cuttable((wire) => make().connect(wire));

const logId = 'log_00000000000000000000000001' as LogId;
describeEventLog(
  NAME,
  over(() => createMemoryLog({ logId, partitions: 8, now: Date.now })),
);
describeCheckpoints(NAME, over(createMemoryCheckpoints));
describeRuleStates(NAME, over(createMemoryRuleStates));
describeDueTasks(NAME, over(createMemoryTasks));
describeCohortStore(NAME, over(createMemoryCohorts));
describeLookupClaims(NAME, over(createMemoryClaims));
describeDeliveryLedger(
  NAME,
  over(() => createMemoryLedger()),
);
describeToldMoves(`${NAME}, as one store`, async () => {
  const log = createMemoryLog({ logId, partitions: 8, now: Date.now });
  const ledger = createMemoryLedger(undefined, (records) => void log.append(records));
  return cuttable((wire) => ({ ledger: ledger.connect(wire), log: log.connect(wire) }));
});
describeSuppressionList(NAME, over(createMemorySuppressions));
describeDocuments(NAME, over(createMemoryDocuments));
describeLeases(NAME, over(createMemoryLeases));
describeConfigurationStore(NAME, over(createMemoryConfigurationStore));
describeReadModels(NAME, over(createMemoryReadModels));
describeKeyUses(NAME, over(createMemoryKeyUses));
describeSchemaRegistry(NAME, over(createMemoryRegistry));
describeSourceStore(
  NAME,
  async () => {
    const log = createMemoryLog({ logId, partitions: 8, now: Date.now });
    const stores = createMemoryStores(log.connect);
    return cuttable((wire) => ({ sources: stores.connect(wire).sources, log: log.connect(wire) }));
  },
  { isOneCommit: false },
);
describeChannelSender(
  NAME,
  async () => {
    const wire = createDirectWire();
    const provider = createMemoryProvider();
    return {
      sender: provider.connect(wire, 'main'),
      received: async () => provider.calls().map(({ message }) => receivedEmail(message)),
      breakProvider: async () => void (wire.cut = true),
      dispose: async () => undefined,
    };
  },
  { keepsAnAttemptOnce: false },
);
