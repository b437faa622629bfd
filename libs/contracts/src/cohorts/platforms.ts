import type { CohortPlatform } from '@carillon/domain';
import { ERRORS, type CarillonError, type Json } from '@carillon/kernel';
import { readAmplitude } from './amplitude.ts';
import { readGeneric } from './generic.ts';
import { mixpanelEcho, mixpanelFailure, mixpanelSuccess, readMixpanel } from './mixpanel.ts';
import type { CohortReading } from './reading.ts';
import { readSegment } from './segment.ts';

export type WebhookPlatform = Exclude<CohortPlatform, 'posthog'>;

const READERS: Readonly<Record<WebhookPlatform, (json: Json, userId?: string) => CohortReading>> = {
  mixpanel: readMixpanel,
  amplitude: readAmplitude,
  segment: readSegment,
  generic: readGeneric,
};

/** What a webhook says, whatever platform sent it; `userId` is the field that holds the id, where not the usual one. */
export const readCohortWebhook = (platform: WebhookPlatform, json: Json, userId?: string): CohortReading =>
  READERS[platform](json, userId);

export type CohortAnswer = { readonly status: number; readonly body: Json };

/** The part of a message that its answer repeats. The answer needs nothing else, so nothing else is kept. */
export const cohortEcho = (platform: WebhookPlatform, json: Json): Json =>
  platform === 'mixpanel' ? mixpanelEcho(json) : null;

/** The answer that the platform takes for success, once everything is on the log. */
export function cohortAccepted(platform: WebhookPlatform, json: Json, id: string): CohortAnswer {
  switch (platform) {
    case 'mixpanel':
      return { status: 200, body: mixpanelSuccess(json) };
    case 'amplitude':
    case 'segment':
      return { status: 200, body: { id } };
    case 'generic':
      return { status: 202, body: { id } };
  }
}

/** The platform's own form of a failure; null where a problem (RFC 9457) is as good as anything. */
export function cohortRefused(platform: WebhookPlatform, json: Json | undefined, error: CarillonError): Json | null {
  return platform === 'mixpanel' ? mixpanelFailure(json, error, ERRORS[error.code].status) : null;
}
