import { consentLookupNames } from '@carillon/domain/consent';
import { presend, type BeforeSend, type Delivery, type Hold, type PresendVerdict } from '@carillon/domain/deliveries';
import type { Clock, ConfigurationView, ConsentStore, Ids, SuppressionList } from '@carillon/ports';

export type CheckPorts = {
  readonly configuration: ConfigurationView;
  readonly consents: Pick<ConsentStore, 'find'>;
  readonly suppressions: Pick<SuppressionList, 'find'>;
  readonly ids: Pick<Ids, 'keyed'>;
  readonly clock: Clock;
  /** Checks before a send, in order. Defaults to all checks. */
  readonly holds?: readonly Hold[];
};

/** Data read for the checks, reused by the later checks. */
export type ReadBeforeSend = Omit<BeforeSend, 'notification'>;

/** Runs the checks before rendering and returns the data they used, which is read again for each attempt. */
export async function checkBeforeSend(
  delivery: Delivery,
  ports: CheckPorts,
): Promise<{ readonly verdict: PresendVerdict; readonly known: ReadBeforeSend }> {
  const newest = ports.configuration.current();
  const { workspace, channel } = delivery.slot;
  const keyed = (...parts: readonly string[]): string => ports.ids.keyed(...parts);
  const [consents, suppressed] = await Promise.all([
    ports.consents.find(workspace, consentLookupNames(delivery.intent, channel, keyed)),
    ports.suppressions.find(workspace, channel, delivery.intent.to ?? ''),
  ]);
  const known = { delivery, newest, consents, suppressed, now: ports.clock.now() };
  return { verdict: presend(known, ports.holds), known };
}
