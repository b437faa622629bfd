import { parseDuration, type Duration } from '@carillon/kernel';
import type { NotificationBody } from '../configuration/resources.ts';
import type { DeliverySettings } from './intent.ts';

/** Defaults of interfaces section 3; `apply` has checked what is written, so only valid durations come here. */
export const DEFAULT_RETRY = { attempts: 8, first: 30_000, max: 14_400_000 } as const;
export const DEFAULT_EXPIRES = 86_400_000;

const spanOr = (text: string | undefined, otherwise: Duration): Duration => {
  const span = text === undefined ? undefined : parseDuration(text);
  return span?.ok ? span.value : otherwise;
};

export function deliverySettings(body: NotificationBody): DeliverySettings {
  return {
    retry: {
      attempts: body.retry?.attempts ?? DEFAULT_RETRY.attempts,
      first: spanOr(body.retry?.first, DEFAULT_RETRY.first),
      max: spanOr(body.retry?.max, DEFAULT_RETRY.max),
    },
    inDoubt: body.in_doubt ?? 'hold',
    expires: spanOr(body.expires, DEFAULT_EXPIRES),
  };
}
