import { z } from 'zod';
import { said, secret } from '../shape-parts.ts';
import { otherUrl, rate, requestsAtOnce, secretField, smsKeys, smsSender } from './account-keys.ts';
import { defineProvider } from './provider.ts';

/** Requests at the same time, per process. */
const DEFAULT_CONNECTIONS = 16;

export const sinch = defineProvider({
  kind: 'sinch',
  title: 'SMS by Sinch',
  summary: 'Text messages through the SMS API of Sinch.',
  description: 'SMS through the SMS API of Sinch.',
  channels: ['sms'],
  keys: {
    service_plan_id: said(z.string().regex(/^[0-9a-z]{1,64}$/i, { error: 'the id of a service plan' }), {
      description: 'Id of the service plan.',
      example: '4f1d2c3b5a69788796a5b4c3d2e1f001',
      form: { label: 'Id of the service plan', note: 'In the Sinch dashboard, under SMS.' },
    }),
    api_token: said(secret, {
      description: 'Reference to the API token of the service plan. It signs in.',
      form: secretField('API token', 'API_TOKEN', { note: 'Kept as a secret.' }),
    }),
    from: said(smsSender, {
      description: 'Sender: a number or short code of the service plan, or a name that the country allows.',
      example: '+4915112345678',
      form: { label: 'Number', note: 'A number, a short code or a name of at most 11 letters.' },
    }),
    ...smsKeys,
    connections: requestsAtOnce(100, DEFAULT_CONNECTIONS, 'Requests at the same time, in each process.'),
    rate,
    url: otherUrl,
  },
  concurrency: ({ connections }) => connections ?? DEFAULT_CONNECTIONS,
  sendingSecrets: ({ api_token: token }) => [token],
  receiptSources: [],
  reporter: () => null,
});
