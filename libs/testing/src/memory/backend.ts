import type { LogId } from '@carillon/kernel';
import type { Clock, EventLog, SchemaRegistry } from '@carillon/ports';
import type { Stores } from '@carillon/stores';
import { createMemoryClaims, createMemoryLeases, createMemorySuppressions } from './claims.ts';
import { createMemoryCohorts } from './cohort-store.ts';
import { createMemoryConfigurationStore } from './configuration-store.ts';
import { createMemoryLedger } from './delivery-ledger.ts';
import { createMemoryTasks } from './due-tasks.ts';
import { createMemoryLog } from './event-log.ts';
import { createMemoryKeyUses } from './key-uses.ts';
import { createMemoryCheckpoints } from './positions.ts';
import { createMemoryReadModels } from './read-models.ts';
import { createMemoryRuleStates } from './rule-states.ts';
import { createMemoryRegistry } from './schema-registry.ts';
import { createMemoryStores } from './stores.ts';
import type { Wire } from './wire.ts';

/** A backend as a process sees it. */
export type MemoryBackendPorts = Stores & { readonly log: EventLog; readonly registry: SchemaRegistry };

export type MemoryBackendOptions = {
  readonly clock: Clock;
  /** How many each topic has, but for those that are one sequence. */
  readonly partitions: number;
  readonly logId?: LogId;
};

const LOG_ID = 'log_00000000000000000000000001' as LogId;

/** Log and stores that live as long as they are held. Each port passes the contract suite that adapters pass. */
export function createMemoryBackend({ clock, partitions, logId = LOG_ID }: MemoryBackendOptions) {
  const log = createMemoryLog({ logId, partitions, now: () => clock.now() });
  const checkpoints = createMemoryCheckpoints();
  const ruleStates = createMemoryRuleStates();
  const cohorts = createMemoryCohorts();
  const tasks = createMemoryTasks();
  const claims = createMemoryClaims();
  const ledger = createMemoryLedger();
  const suppressions = createMemorySuppressions();
  const configurationStore = createMemoryConfigurationStore();
  const stores = createMemoryStores(log.connect);
  const leases = createMemoryLeases();
  const readModels = createMemoryReadModels();
  const keyUses = createMemoryKeyUses();
  const registry = createMemoryRegistry();
  return {
    trim: log.trim,
    connect: (wire: Wire): MemoryBackendPorts => ({
      log: log.connect(wire),
      checkpoints: checkpoints.connect(wire),
      ruleStates: ruleStates.connect(wire),
      cohorts: cohorts.connect(wire),
      tasks: tasks.connect(wire),
      claims: claims.connect(wire),
      ledger: ledger.connect(wire),
      suppressions: suppressions.connect(wire),
      configurationStore: configurationStore.connect(wire),
      ...stores.connect(wire),
      leases: leases.connect(wire),
      readModels: readModels.connect(wire),
      keyUses: keyUses.connect(wire),
      registry: registry.connect(wire),
    }),
  };
}
export type MemoryBackend = ReturnType<typeof createMemoryBackend>;
