import { explainCadence, fateOf, type ExplainedCadence, type SentEntry } from '@carillon/domain/cadence';
import { channelsOf } from '@carillon/domain/channels';
import type { Configuration, Resource } from '@carillon/domain/configuration';
import { personName } from '@carillon/domain/consent';
import type { Instant } from '@carillon/kernel';
import type { LimitPorts } from './limits.ts';

/** Deliveries read concurrently. A person may have thousands. */
const READ_BATCH_SIZE = 50;

/**
 * Returns the expected outcome of a message of this notification to this person, per channel. Writes nothing: entries
 * left by a crashed process are ignored here and removed by the next message that needs their room.
 */
export async function explainForPerson(
  configuration: Configuration,
  notification: Resource<'notification'>,
  { person, zone, at }: { readonly person: string; readonly zone: string; readonly at: Instant },
  ports: {
    readonly limits: Pick<LimitPorts['limits'], 'find'>;
    readonly ledger: Pick<LimitPorts['ledger'], 'get'>;
    readonly ids: LimitPorts['ids'];
  },
): Promise<readonly ExplainedCadence[]> {
  const name = personName(person, (...parts) => ports.ids.keyed(...parts));
  const sent = await ports.limits.find(notification.ref.workspace, name);
  const entries = await knownOf(sent?.entries ?? [], at, ports.ledger);
  return channelsOf(notification.body).map(([channel]) =>
    explainCadence(configuration, notification, channel, { entries, zone, now: at }),
  );
}

/** Returns the entries with the state of their deliveries. */
async function knownOf(
  entries: readonly SentEntry[],
  at: Instant,
  ledger: Pick<LimitPorts['ledger'], 'get'>,
): Promise<readonly SentEntry[]> {
  const known: SentEntry[] = [];
  for (let from = 0; from < entries.length; from += READ_BATCH_SIZE) {
    const some = entries.slice(from, from + READ_BATCH_SIZE);
    const read = await Promise.all(
      some.map(async (entry): Promise<readonly SentEntry[]> => {
        if (entry.sure) return [entry];
        const fate = fateOf(entry, await ledger.get(entry.deliveryId), at);
        if (fate === 'sure' || fate === 'doubt') return [{ ...entry, sure: true }];
        return fate === 'again' ? [entry] : [];
      }),
    );
    known.push(...read.flat());
  }
  return known;
}
