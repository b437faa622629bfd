import { DEFAULTS } from '@carillon/shapes/values';
import type { NotificationBody } from '../configuration/resources.ts';
import { writtenDuration } from '../configuration/written-duration.ts';
import type { DeliverySettings } from './intent.ts';

/** Returns the delivery settings of a notification with defaults filled in. */
export function deliverySettings({ retry, in_doubt: inDoubt, expires }: NotificationBody): DeliverySettings {
  const otherwise = DEFAULTS.notification;
  return {
    retry: {
      attempts: retry?.attempts ?? otherwise.retry.attempts,
      first: writtenDuration(retry?.first, otherwise.retry.first),
      max: writtenDuration(retry?.max, otherwise.retry.max),
    },
    inDoubt: inDoubt ?? otherwise.in_doubt,
    expires: writtenDuration(expires, otherwise.expires),
  };
}
