import { z } from 'zod';
import { keys, said, secret } from '../shape-parts.ts';
import { otherUrl, rate, requestsAtOnce, secretField, smsKeys, smsSender } from './account-keys.ts';
import { defineProvider } from './provider.ts';

/** Requests at the same time, per process. */
const DEFAULT_CONNECTIONS = 16;

const id = (prefix: string, words: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9A-Za-z]{2,64}$`), { error: `${words}: ${prefix} and letters and digits` });

export const twilio = defineProvider({
  kind: 'twilio',
  title: 'SMS by Twilio',
  summary: 'Text messages from your number, short code or sender name.',
  description: 'SMS through Twilio.',
  channels: ['sms'],
  keys: {
    account_sid: said(id('AC', 'the sid of the account'), {
      description: 'Sid of the account.',
      example: 'AC0123456789abcdef0123456789abcdef',
      form: { label: 'Account SID' },
    }),
    auth_token: said(secret, {
      description:
        'Reference to the auth token. It proves what Twilio reports; without `api_key` it is signed in with too.',
      form: secretField('Auth token', 'AUTH_TOKEN', {
        note: 'Also verifies delivery reports of Twilio. Stored as a secret.',
      }),
    }),
    api_key: said(
      keys({
        sid: said(id('SK', 'the sid of an API key'), {
          description: 'Sid of the key.',
          form: { label: 'API key: SID', placeholder: 'SK…', isRare: true },
        }),
        secret: said(secret, {
          description: 'Reference to the secret of the key.',
          form: secretField('API key: secret', 'API_SECRET', { isRare: true }),
        }),
      }).exactOptional(),
      { description: 'An API key to sign in with, which can be revoked without a new auth token.' },
    ),
    from: said(smsSender.exactOptional(), {
      description: 'Who sends: a number, a short code or a name that Twilio knows. Either this or `messaging_service`.',
      example: '+4915112345678',
      form: {
        label: 'Number',
        note: 'A number, short code or sender name that Twilio knows. Leave empty if you use a Messaging Service.',
      },
    }),
    messaging_service: said(id('MG', 'the sid of a Messaging Service').exactOptional(), {
      description: 'Sid of a Messaging Service, which picks the number.',
      example: 'MG0123456789abcdef0123456789abcdef',
      form: { label: 'Messaging Service SID', placeholder: 'MG…', isRare: true },
    }),
    ...smsKeys,
    connections: requestsAtOnce(100, DEFAULT_CONNECTIONS, 'Requests open at once, in each process.'),
    rate,
    url: otherUrl,
  },
  concurrency: ({ connections }) => connections ?? DEFAULT_CONNECTIONS,
  sendingSecrets: ({ api_key: key, auth_token: token }) => [key?.secret ?? token],
  receiptSources: ['twilio'],
  reporter: ({ kind, auth_token: token }) => ({ kind, secret: token }),
  check({ from, messaging_service: service }) {
    if ((from === undefined) !== (service === undefined)) return [];
    const both = from !== undefined;
    return [
      {
        path: both ? ['messaging_service'] : [],
        spot: both ? 'key' : 'value',
        code: both ? 'sender_twice' : 'sender_missing',
        facts: {},
      },
    ];
  },
});
