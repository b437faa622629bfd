import { readFileSync } from 'node:fs';
import { formatFault } from '@carillon/configuration';
import { PROVIDERS } from '@carillon/shapes/providers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { goodFolder, read } from './support/folder.ts';

/** Each kind of account with every field that it takes. */
const ACCOUNTS: Readonly<Record<string, object>> = {
  smtp: {
    kind: 'smtp',
    host: 'smtp.example.com',
    port: 587,
    tls: 'starttls',
    user: 'shop',
    password: { secret: 'MAIL' },
    from: 'Shop <shop@example.com>',
    connections: 5,
    dkim: { domain: 'example.com', selector: 'k1', key: { secret: 'DKIM' } },
    rate: { per_second: 10 },
    return_path: 'bounces.example.com',
    receipts: { kind: 'ses', topic: 'arn:aws:sns:eu-central-1:123456789012:carillon', configuration_set: 'carillon' },
  },
  sendgrid: smtpWith({ kind: 'sendgrid', public_key: 'A'.repeat(124) }),
  mailgun: smtpWith({ kind: 'mailgun', signing_key: { secret: 'MAILGUN' } }),
  postmark: smtpWith({ kind: 'postmark', credentials: { secret: 'POSTMARK' } }),
  twilio: {
    kind: 'twilio',
    account_sid: 'AC01',
    auth_token: { secret: 'TOKEN' },
    api_key: { sid: 'SK01', secret: { secret: 'KEY' } },
    from: '+4915112345678',
    allow: ['+49'],
    max_segments: 3,
    connections: 5,
    rate: { per_second: 10 },
    url: 'https://twilio.example.com',
  },
  service: { kind: 'twilio', account_sid: 'AC01', auth_token: { secret: 'TOKEN' }, messaging_service: 'MG01' },
  fcm: {
    kind: 'fcm',
    credentials: { secret: 'FCM' },
    requests: 100,
    rate: { per_second: 10 },
    url: 'https://fcm.example.com',
  },
  sandbox: { kind: 'sandbox', from: 'shop@example.com' },
};

type Described = {
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Described>>;
};

/** Returns a value with every field of a schema, from the examples and defaults in it. */
const exampleOf = ({ const: fixed, default: fallback, examples, properties }: Described): unknown =>
  fixed ??
  examples?.[0] ??
  fallback ??
  (properties
    ? Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, exampleOf(part)]))
    : 'https://api.example.com');

/** Accounts of the kinds that the table above leaves out. */
const OTHER_ACCOUNTS = Object.fromEntries(
  PROVIDERS.filter(({ kind }) => !Object.hasOwn(ACCOUNTS, kind)).map(({ kind, shape }) => [
    kind,
    exampleOf(z.toJSONSchema(shape) as Described) as object,
  ]),
);
const EVERY_ACCOUNT = { ...ACCOUNTS, ...OTHER_ACCOUNTS };

function smtpWith(receipts: object): object {
  return { kind: 'smtp', host: 'smtp.example.com', port: 587, from: 'a@example.com', receipts };
}

const PUSH = {
  title: 'Paid',
  body: 'Thank you',
  image: 'https://shop.example.com/a.png',
  link: 'https://shop.example.com/',
  data: { order: '1' },
  priority: 'high',
  collapse: 'order',
  android: { channel: 'orders' },
  apns: { sound: 'default' },
  strict: true,
};
const EMAIL = { subject: 'Paid', preheader: 'Today', from: 'shop@example.com', strict: true };

/** YAML is a superset of JSON, so a body can be written as it is. */
const FILES: Readonly<Record<string, { readonly file: string; readonly body: object }>> = {
  ...Object.fromEntries(
    Object.entries(EVERY_ACCOUNT).map(([name, body]) => [name, { file: 'workspaces/shop/accounts/main.yaml', body }]),
  ),
  'push.yaml': { file: 'workspaces/shop/templates/order-paid/push.yaml', body: PUSH },
  'email.yaml': { file: 'workspaces/shop/templates/order-paid/email.yaml', body: EMAIL },
};

type Path = readonly string[];
const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map((one, at) => [String(at), one])
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
const pathsOf = (value: unknown, at: Path = []): readonly Path[] =>
  entriesOf(value).flatMap(([name, part]) => [[...at, name], ...pathsOf(part, [...at, name])]);

/** The body with another value at the path; `undefined` takes the field away. */
function changed(body: object, [name = '', ...rest]: Path, by: unknown): object {
  const next: Record<string, unknown> = Object.fromEntries(Object.entries(body));
  next[name] = rest.length === 0 ? by : changed(next[name] as object, rest, by);
  return Array.isArray(body) ? Object.values(next) : next;
}

/** As faults write it: `allow[0]`, `dkim.key`. */
const shown = (path: Path): string =>
  path.reduce((text, name) => (/^\d+$/.test(name) ? `${text}[${name}]` : text ? `${text}.${name}` : name), '');

const HEADER = 'shop\r\nBcc: eve@example.com';
/** What no field of an account or of a head takes. */
const WRONG: Readonly<Record<string, unknown>> = {
  'a list of lists': [[1]],
  'a field nobody knows': { zz: 1 },
  'a number': 7.5,
  nothing: '',
  'no number': 'many, or few',
  'less than nothing': -7,
  'very long': 'x'.repeat(9_000),
  'a second header': HEADER,
  'half a character': '\ud800\u0000',
};
/** What fits all the same. Of templates any text does, since what comes out of it is judged; a rate may be a fraction. */
function fits(name: string, path: Path, what: string, wrong: unknown): boolean {
  const [field = ''] = path;
  if (what === 'a number') return field === 'rate';
  if (what === 'no number' && field === 'user') return true;
  const isTemplate = name.endsWith('.yaml') && field !== 'priority' && field !== 'strict';
  return isTemplate && typeof wrong === 'string' && wrong.length < 9_000 && (wrong !== '' || field === 'data');
}

const cases = Object.entries(FILES).flatMap(([name, { file, body }]) =>
  pathsOf(body).map((path) => [`${name} ${shown(path)}`, { name, file, body, path }] as const),
);
const faultsWith = (file: string, body: object) => read({ [file]: `${JSON.stringify(body)}\n` }).faults;

describe('a field of an account or a template', () => {
  test.each(Object.entries(FILES))('is accepted: %s', (_name, { file, body }) => {
    expect(faultsWith(file, body).map(formatFault)).toEqual([]);
  });

  test.each(cases)('that is wrong is reported with the expected value and the fix: %s', (_, one) => {
    const { name, file, body, path } = one;
    for (const [what, wrong] of Object.entries(WRONG)) {
      if (fits(name, path, what, wrong)) continue;
      const faults = faultsWith(file, changed(body, path, wrong));
      const own = faults.filter((fault) => fault.path.startsWith(shown(path.slice(0, 1))));
      expect([what, own.length > 0], faults.map(formatFault).join('\n')).toEqual([what, true]);
      for (const fault of own) {
        expect(fault.expected, formatFault(fault)).not.toBe('');
        expect(fault.fix, formatFault(fault)).not.toBe('');
        expect(formatFault(fault).length, what).toBeLessThan(700);
        expect(formatFault(fault), what).not.toMatch(/[\u0000-\u001f]/);
      }
    }
  });
});

describe('the table above', () => {
  const schema: unknown = JSON.parse(
    readFileSync(new URL('../../../schemas/files/account.schema.json', import.meta.url), 'utf8'),
  );
  /** Names of all fields that a schema takes, however deep. */
  const namesIn = (part: unknown): readonly string[] =>
    entriesOf(part).flatMap(([name, inner]) => [
      ...(name === 'properties' ? entriesOf(inner).map(([field]) => field) : []),
      ...namesIn(inner),
    ]);

  test('covers every field of an account', () => {
    const tried = new Set(Object.values(EVERY_ACCOUNT).flatMap((body) => pathsOf(body).map((path) => path.at(-1))));
    expect(namesIn(schema).filter((name) => !tried.has(name))).toEqual([]);
    expect(namesIn(schema).length).toBeGreaterThan(40);
  });

  test('starts from a valid folder', () => {
    expect(read(goodFolder).faults).toEqual([]);
  });
});
