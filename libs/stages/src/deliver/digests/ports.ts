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

/** What collecting for digests and sending them takes. */
export type DigestPorts = {
  readonly log: EventLog;
  readonly codecs: Pick<RecordCodecs, 'outcome'>;
  readonly ledger: DeliveryLedger;
  readonly digestHeads: DigestHeads;
  readonly configuration: ConfigurationView;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Told of every digest that is due now, after it stands in the ledger: a hint, never needed for correctness. */
  readonly digestMade: (digest: DueDelivery) => void;
};

export const momentOf = ({ clock, ids }: Pick<DigestPorts, 'clock' | 'ids'>): Moment => ({
  now: clock.now(),
  derive: ids.derive,
});
