import type { PastMessage } from '@carillon/domain/cadence';
import { channelsOf } from '@carillon/domain/channels';
import { findResource, localityOf, notificationIdOf, type Configuration } from '@carillon/domain/configuration';
import type { DeliveryId, Instant, TriggerId } from '@carillon/kernel';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Hours of the day, each as often as its share: customers of this shop buy at noon and late in the evening. */
const HOURS = [7, 9, 11, 12, 12, 13, 15, 17, 18, 20, 21, 21, 22, 22, 23] as const;
const PEOPLE = 40;
const DAYS = 7;

export const EXAMPLE_WORDS = `nothing was sent in this time: an example week of a shop with ${PEOPLE} customers, some of whom buy daily`;

/**
 * A week of messages of a notification that has no history yet, the same at every call: customer n comes on every (n mod 7)th
 * day, a few of them several times a day.
 */
export function exampleWeek(
  configuration: Configuration,
  workspace: string,
  notification: string,
  since: Instant,
): readonly PastMessage[] {
  const found = findResource(configuration, 'notification', workspace, notification);
  const [first] = found ? channelsOf(found.body) : [];
  if (!found || !first) return [];
  const zone = localityOf(configuration, workspace, {}).locality.timeZone;
  const messages: PastMessage[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    for (let customer = 0; customer < PEOPLE; customer += 1) {
      if (day % ((customer % 7) + 1) !== 0) continue;
      const times = customer % 10 === 0 ? 6 : 1;
      for (let time = 0; time < times; time += 1) {
        const hour = HOURS[(customer * 5 + day * 3 + time * 2) % HOURS.length] ?? 12;
        const at = since + day * DAY + hour * HOUR + ((customer * 7 + time * 11) % 60) * 60_000;
        const id = `example_${messages.length + 1}`;
        const person = `customer ${customer + 1}`;
        messages.push({
          deliveryId: id as DeliveryId,
          triggerId: id as TriggerId,
          notificationId: notificationIdOf(found),
          channel: first[0],
          person,
          zone,
          causedAt: at,
          sendAt: at,
          meets: person,
        });
      }
    }
  }
  return messages.toSorted((a, b) => a.causedAt - b.causedAt);
}
