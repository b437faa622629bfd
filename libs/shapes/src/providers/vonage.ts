import { z } from 'zod';
import { said, secret } from '../shape-parts.ts';
import { otherUrl, rate, requestsAtOnce, secretField, smsKeys, smsSender } from './account-keys.ts';
import { defineProvider } from './provider.ts';

/** Requests at the same time, per process. Vonage takes 30 per second unless it raised the limit of the account. */
const DEFAULT_CONNECTIONS = 16;

const applicationId = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: 'the id of an application, a UUID' });

export const vonage = defineProvider({
  kind: 'vonage',
  title: 'SMS by Vonage',
  summary: 'Text messages through the Messages API of Vonage.',
  description: 'SMS through the Messages API of Vonage.',
  channels: ['sms'],
  keys: {
    application_id: said(applicationId, {
      description: 'Id of the application, which has the capability Messages.',
      example: '78d335fa-323d-4114-9c3d-d6f0d48968cf',
      form: {
        label: 'Application id',
        note: 'In the Vonage dashboard, under Applications.',
      },
    }),
    private_key: said(secret, {
      description: 'Reference to the private key of the application: RSA, PEM. It signs in.',
      form: secretField('Private key of the application', 'PRIVATE_KEY', {
        isLong: true,
        note: 'The PEM file, which Vonage shows only once. Stored as a secret.',
      }),
    }),
    signature_secret: said(secret.exactOptional(), {
      description: 'Reference to the signature secret of the Vonage account. It proves delivery reports and replies.',
      otherwise: 'no report and no reply is accepted',
      form: secretField('Signature secret', 'SIGNATURE_SECRET', {
        note: 'Verifies delivery reports and STOP; without it both are refused. In the API settings of the Vonage dashboard.',
      }),
    }),
    from: said(smsSender, {
      description: 'Sender: a number or short code of the Vonage account, or a name that the country allows.',
      example: '+4915112345678',
      form: { label: 'Number', note: 'A number, a short code or a sender name of at most 11 letters.' },
    }),
    ...smsKeys,
    connections: requestsAtOnce(100, DEFAULT_CONNECTIONS, 'Requests at the same time, in each process.'),
    rate,
    url: otherUrl,
  },
  concurrency: ({ connections }) => connections ?? DEFAULT_CONNECTIONS,
  sendingSecrets: ({ private_key: key }) => [key],
  receiptSources: ['vonage'],
  reporter: ({ kind, signature_secret: signature }) => (signature === undefined ? null : { kind, secret: signature }),
});
