import type { Configuration } from '@carillon/domain/configuration';
import { deliverySettings, findNotification, type Delivery } from '@carillon/domain/deliveries';
import type { Duration } from '@carillon/kernel';

/** How long a message of a delivery is worth sending, by the configuration of now. */
export function expiresOf(current: Configuration, { slot }: Delivery): Duration {
  const notification = findNotification(current, slot);
  return deliverySettings(notification?.body ?? { channels: {}, rules: {} }).expires;
}
