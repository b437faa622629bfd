import type { Moment } from '@carillon/domain/deliveries';
import type {
  Clock,
  ConfigurationView,
  DeliveryLedger,
  DigestHeads,
  DueDelivery,
  EventLog,
  Ids,
  RecordCodecs,
} from '@carillon/ports';

/** Ports to collect for digests and send them. */
export type DigestPorts = {
  readonly log: EventLog;
  readonly codecs: Pick<RecordCodecs, 'outcome'>;
  readonly ledger: DeliveryLedger;
  readonly digestHeads: DigestHeads;
  readonly configuration: ConfigurationView;
  readonly ids: Ids;
  readonly clock: Clock;
  /**
   * Called with every digest that is due now, after it is in the ledger. Only a hint; correctness does not depend on
   * it.
   */
  readonly digestMade: (digest: DueDelivery) => void;
};

export const momentOf = ({ clock, ids }: Pick<DigestPorts, 'clock' | 'ids'>): Moment => ({
  now: clock.now(),
  derive: ids.derive,
});
