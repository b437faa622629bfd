import type { Bodies } from '../../api/draft-calls.ts';
import type { NewKind } from '../setup/new-setup.tsx';
import type { Part } from '../setup/parts.ts';

type Body = Bodies['accounts'];
type KindName = Body['kind'];
export type Channel = 'email' | 'sms' | 'push';

export type AccountKind = {
  readonly name: string;
  readonly what: string;
  readonly carries: readonly Channel[];
  readonly parts: readonly Part[];
};

const rate: Part = {
  path: ['rate', 'per_second'],
  label: 'Messages a second, at most',
  kind: 'number',
  note: 'Over all processes together. What is above waits in this account’s own queue.',
  isRare: true,
};

export const ACCOUNT_KINDS: Readonly<Record<KindName, AccountKind>> = {
  smtp: {
    name: 'Email by SMTP',
    what: 'Any mail server: your own, Amazon SES, SendGrid, Mailgun, Postmark.',
    carries: ['email'],
    parts: [
      { path: ['host'], label: 'Server', kind: 'text', placeholder: 'smtp.example.com' },
      {
        path: ['port'],
        label: 'Port',
        kind: 'number',
        placeholder: '587',
        note: '587 with STARTTLS, 465 with TLS from the first byte.',
      },
      { path: ['user'], label: 'User', kind: 'text', note: 'Left empty where the server wants none.' },
      {
        path: ['password'],
        label: 'Password',
        kind: 'secret',
        ending: 'PASSWORD',
        note: 'Kept as a secret; the draft holds its name alone.',
      },
      {
        path: ['from'],
        label: 'Sender',
        kind: 'text',
        placeholder: 'Shop <shop@example.com>',
        note: 'Used when the template sets no sender.',
      },
      {
        path: ['tls'],
        label: 'Encryption',
        kind: 'choice',
        options: [
          { id: '', name: 'As the port and user say' },
          { id: 'implicit', name: 'TLS from the first byte' },
          { id: 'starttls', name: 'STARTTLS, or no sending' },
          { id: 'opportunistic', name: 'STARTTLS where offered' },
          { id: 'none', name: 'None: clear text' },
        ],
        isRare: true,
      },
      { path: ['connections'], label: 'Connections at once', kind: 'number', isRare: true },
      rate,
      {
        path: ['dkim', 'domain'],
        label: 'DKIM: domain that signs',
        kind: 'text',
        placeholder: 'shop.example.com',
        isRare: true,
      },
      { path: ['dkim', 'selector'], label: 'DKIM: selector', kind: 'text', placeholder: 'k1', isRare: true },
      {
        path: ['dkim', 'key'],
        label: 'DKIM private key',
        kind: 'secret',
        ending: 'DKIM_KEY',
        isLong: true,
        isRare: true,
        note: 'RSA, PEM. The check shows the record that DNS needs.',
      },
      {
        path: ['return_path'],
        label: 'Domain for bounces',
        kind: 'text',
        placeholder: 'bounces.shop.example.com',
        isRare: true,
      },
    ],
  },
  twilio: {
    name: 'SMS by Twilio',
    what: 'Text messages from a number, a short code or a name of your own.',
    carries: ['sms'],
    parts: [
      {
        path: ['account_sid'],
        label: 'Sid of the account',
        kind: 'text',
        placeholder: 'AC0123456789abcdef0123456789abcdef',
      },
      {
        path: ['auth_token'],
        label: 'Auth token',
        kind: 'secret',
        ending: 'AUTH_TOKEN',
        note: 'It also proves what Twilio reports. Kept as a secret.',
      },
      {
        path: ['from'],
        label: 'Number',
        kind: 'text',
        placeholder: '+4915112345678',
        note: 'A number, a short code or a name that Twilio knows; or a Messaging Service instead.',
      },
      {
        path: ['messaging_service'],
        label: 'Sid of a Messaging Service',
        kind: 'text',
        placeholder: 'MG…',
        isRare: true,
      },
      {
        path: ['allow'],
        label: 'Allowed number prefixes, one per line',
        kind: 'list',
        placeholder: '+49',
        note: 'Other accounts of the notification are asked for the rest.',
        isRare: true,
      },
      {
        path: ['max_segments'],
        label: 'Segments at most',
        kind: 'number',
        note: 'A text of more is refused; each is paid for.',
        isRare: true,
      },
      { path: ['api_key', 'sid'], label: 'API key: sid', kind: 'text', placeholder: 'SK…', isRare: true },
      { path: ['api_key', 'secret'], label: 'API key: secret', kind: 'secret', ending: 'API_SECRET', isRare: true },
      { path: ['connections'], label: 'Requests at once', kind: 'number', isRare: true },
      rate,
      {
        path: ['url'],
        label: 'Another address than the provider’s own',
        kind: 'text',
        isRare: true,
        note: 'For tests and proxies.',
      },
    ],
  },
  fcm: {
    name: 'Push by Firebase Cloud Messaging',
    what: 'Push notifications on Android, iOS and in browsers.',
    carries: ['push'],
    parts: [
      {
        path: ['credentials'],
        label: 'Key file of the service account',
        kind: 'secret',
        ending: 'SERVICE_ACCOUNT',
        isLong: true,
        note: 'The JSON file as Firebase gives it. The project is the one that it names.',
      },
      { path: ['requests'], label: 'Requests at once', kind: 'number', isRare: true },
      rate,
      {
        path: ['url'],
        label: 'Another address than the provider’s own',
        kind: 'text',
        isRare: true,
        note: 'For tests and proxies.',
      },
    ],
  },
  sandbox: {
    name: 'Inbox of this deployment',
    what: 'Keeps messages of any channel for the inbox page; nothing leaves the machine.',
    carries: ['email', 'sms', 'push'],
    parts: [
      {
        path: ['from'],
        label: 'Sender',
        kind: 'text',
        placeholder: 'Shop <shop@example.com>',
        note: 'Used when the template sets no sender.',
      },
    ],
  },
};
const KINDS = Object.keys(ACCOUNT_KINDS) as KindName[];

/** What each begins as. What is missing of it the draft says, where it stands. */
export const NEW_ACCOUNTS: readonly NewKind<'accounts'>[] = KINDS.map((id) => ({
  id,
  name: ACCOUNT_KINDS[id].name,
  what: ACCOUNT_KINDS[id].what,
  body: (id === 'smtp' ? { kind: id, port: 587 } : { kind: id }) as Body,
}));

export const accountKindOf = (body: unknown): AccountKind | null => {
  const kind = (body as { kind?: unknown } | null)?.kind;
  const found = KINDS.find((one) => one === kind);
  return found === undefined ? null : ACCOUNT_KINDS[found];
};

/** Returns the label of a kind of account, or the kind itself if the portal cannot add it. */
export const kindWords = (kind: string | null): string =>
  kind === null ? '' : ((ACCOUNT_KINDS as Readonly<Record<string, AccountKind>>)[kind]?.name ?? kind);

export const CHANNEL_WORDS: Readonly<Record<Channel, string>> = { email: 'Email', sms: 'SMS', push: 'Push' };
