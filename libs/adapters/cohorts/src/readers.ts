import { ERRORS, err, type CarillonError, type Json } from '@carillon/kernel';
import type { CohortMessageReading, CohortReaders, CohortReadingOptions, WebhookPlatform } from '@carillon/ports';
import { readAmplitude } from './amplitude.ts';
import { proofOf } from './credentials.ts';
import { readGeneric } from './generic.ts';
import { mixpanelEcho, mixpanelFailure, mixpanelSuccess, readMixpanel } from './mixpanel.ts';
import { readCohortBody, type CohortReading } from './reading.ts';
import { readSegment, segmentCallFault, segmentPassedOver } from './segment.ts';

const READERS: Readonly<Record<WebhookPlatform, (json: Json, userId?: string) => CohortReading>> = {
  mixpanel: readMixpanel,
  amplitude: readAmplitude,
  segment: readSegment,
  generic: readGeneric,
};

/** Parses a webhook of any platform. `userId` names the field of the user id, if it differs from the default. */
export const readCohortWebhook = (platform: WebhookPlatform, json: Json, userId?: string): CohortReading =>
  READERS[platform](json, userId);

/** Readers of all platforms that send what changed. */
export const createCohortReaders = (): CohortReaders => ({
  signsBody: (platform, { signature }) => platform === 'segment' && signature !== undefined,
  proofOf,
  parse: (body) => readCohortBody(body),
  read: readMessage,
  accepted(platform, echo, id) {
    switch (platform) {
      case 'mixpanel':
        return { status: 200, body: mixpanelSuccess(echo) };
      case 'amplitude':
      case 'segment':
        return { status: 200, body: { id } };
      case 'generic':
        return { status: 202, body: { id } };
    }
  },
  refused: (platform, echo, error) =>
    platform === 'mixpanel' ? mixpanelFailure(echo, error, ERRORS[error.code].status) : null,
});

function readMessage(
  platform: WebhookPlatform,
  json: Json,
  { userId, batches, now }: CohortReadingOptions,
): CohortMessageReading {
  const fault = platform === 'segment' ? segmentCallFault(json, batches, now) : null;
  if (fault) return refusedMessage(fault);
  return {
    echo: platform === 'mixpanel' ? mixpanelEcho(json) : null,
    passedOver: platform === 'segment' ? segmentPassedOver(json) : 0,
    changes: readCohortWebhook(platform, json, userId),
  };
}

const refusedMessage = (error: CarillonError): CohortMessageReading => ({
  echo: null,
  passedOver: 0,
  changes: err(error),
});
