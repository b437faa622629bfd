import type {
  CheckpointStore,
  ConfigurationView,
  DeliveryLedger,
  Ids,
  ReadModels,
  RuleStateStore,
} from '@carillon/ports';
import type { LookupTracePorts } from './lookups.ts';

export type TracePorts = LookupTracePorts & {
  readonly readModels: ReadModels;
  readonly ledger: DeliveryLedger;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: Pick<RuleStateStore, 'load'>;
  readonly configuration: ConfigurationView;
  readonly ids: Ids;
};
