import { said, secret } from '../shape-parts.ts';
import { otherUrl, rate, requestsAtOnce, secretField } from './account-keys.ts';
import { defineProvider } from './provider.ts';

/** Requests at the same time, per process. */
const DEFAULT_REQUESTS = 64;

export const fcm = defineProvider({
  kind: 'fcm',
  title: 'Push by Firebase Cloud Messaging',
  summary: 'Push notifications on Android, iOS and in browsers.',
  description: 'Push messages through Firebase Cloud Messaging.',
  channels: ['push'],
  keys: {
    credentials: said(secret, {
      description: 'Reference to the key file (JSON) of a service account; the project is the one that it names.',
      example: { secret: 'FCM_SERVICE_ACCOUNT' },
      form: secretField('Key file of the service account', 'SERVICE_ACCOUNT', {
        isLong: true,
        note: 'The JSON file from Firebase. It also names the project.',
      }),
    }),
    requests: requestsAtOnce(
      500,
      DEFAULT_REQUESTS,
      'Requests open at once, in each process; they share one connection.',
    ),
    rate,
    url: otherUrl,
  },
  concurrency: ({ requests }) => requests ?? DEFAULT_REQUESTS,
  sendingSecrets: ({ credentials }) => [credentials],
});
