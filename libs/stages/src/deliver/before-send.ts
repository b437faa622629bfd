import { namesAsked } from '@carillon/domain/consent';
import { presend, type BeforeSend, type Delivery, type Hold, type PresendVerdict } from '@carillon/domain/deliveries';
import type { Clock, ConfigurationView, ConsentStore, Ids, SuppressionList } from '@carillon/ports';

export type CheckPorts = {
  readonly configuration: ConfigurationView;
  readonly consents: Pick<ConsentStore, 'find'>;
  readonly suppressions: Pick<SuppressionList, 'find'>;
  readonly ids: Pick<Ids, 'keyed'>;
  readonly clock: Clock;
  /** What is checked before a send, in order; left out: all that there is. */
  readonly holds?: readonly Hold[];
};

/** What was read for the checks; those that come later go by the same. */
export type ReadBeforeSend = Omit<BeforeSend, 'notification'>;

/** The checks before rendering, with what they went by: all of it is read anew at each attempt. */
export async function checkBeforeSend(
  delivery: Delivery,
  ports: CheckPorts,
): Promise<{ readonly verdict: PresendVerdict; readonly known: ReadBeforeSend }> {
  const newest = ports.configuration.current();
  const { workspace, channel } = delivery.slot;
  const keyed = (...parts: readonly string[]): string => ports.ids.keyed(...parts);
  const [consents, suppressed] = await Promise.all([
    ports.consents.find(workspace, namesAsked(delivery.intent, channel, keyed)),
    ports.suppressions.find(workspace, channel, delivery.intent.to ?? ''),
  ]);
  const known = { delivery, newest, consents, suppressed, now: ports.clock.now() };
  return { verdict: presend(known, ports.holds), known };
}
