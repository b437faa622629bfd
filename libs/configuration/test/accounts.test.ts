import { formatFault, planChanges } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { PROVIDERS } from '@carillon/shapes/providers';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { smallLanguage, smallTemplates } from './support/small-language.ts';

const smtp = (more: string): string => `kind: smtp, host: mx.example.com, port: 587, from: a@mail.example.com${more}`;
const told = (more: string): readonly string[] =>
  [
    read({ 'workspaces/shop/accounts/mail.yaml': `{ ${smtp(more)} }\n` }),
    read({ 'carillon.yaml': `accounts: { email: { ${smtp(more)} } }\n` }),
  ].flatMap(({ faults }) => faults.map(formatFault));

test('an SMTP password with opportunistic TLS is refused, for a workspace and for the deployment', () => {
  const user = ', user: shop, password: { secret: MAIL }';
  expect(told(`, tls: opportunistic${user}`)).toEqual([
    expect.stringMatching(/accounts\/mail\.yaml:1:\d+ {2}tls: the password could be read on the way to this server/),
    expect.stringMatching(/^carillon\.yaml:1:\d+ {2}accounts\.email\.tls: .*write tls: starttls/),
  ]);
  expect(told(', tls: opportunistic')).toEqual([]);
  expect(told(`, tls: starttls${user}`)).toEqual([]);
});

test('a valid but dangerous setting of a template is a warning at its position', () => {
  const { faults, warnings } = read({ 'workspaces/shop/templates/order-paid/email.html': '<p>\n ¿</p>\n' });
  expect(faults).toEqual([]);
  expect(warnings.filter(({ file }) => file.endsWith('.html'))).toEqual([
    {
      file: 'workspaces/shop/templates/order-paid/email.html',
      path: '',
      line: 2,
      column: 2,
      message: 'odd ¿',
      fix: 'look',
    },
  ]);
});

const TWILIO = 'kind: twilio, account_sid: AC01, auth_token: { secret: TOKEN }, from: "+4915112345678"';
const FCM = 'kind: fcm, credentials: { secret: FCM }';
const words = (changes: Readonly<Record<string, string>>): readonly string[] => read(changes).faults.map(formatFault);
const own = (body: string): readonly string[] => words({ 'workspaces/shop/accounts/main.yaml': `{ ${body} }\n` });

describe('accounts for SMS and push', () => {
  test('are accepted as they are documented', () => {
    expect(own(`${TWILIO}, allow: ["+49"], max_segments: 3, rate: { per_second: 10 }`)).toEqual([]);
    expect(own(TWILIO.replace('from: "+4915112345678"', 'messaging_service: MG01'))).toEqual([]);
    expect(own(`${FCM}, requests: 100`)).toEqual([]);
  });

  test.each([
    ['no sender', TWILIO.replace(', from: "+4915112345678"', ''), /the account has no sender yet.*add from/],
    [
      'two senders',
      `${TWILIO}, messaging_service: MG01`,
      /messaging_service: .*a number and a Messaging Service.*remove one/,
    ],
    [
      'a key in place of the account',
      TWILIO.replace('AC01', 'SK01'),
      /account_sid: "SK01" does not fit.*AC and letters/,
    ],
    ['a sender that is none', TWILIO.replace('+4915112345678', '+49 151 with care'), /from: .*does not fit/],
    ['a prefix without plus', `${TWILIO}, allow: ["0049"]`, /allow\[0\]: "0049" does not fit.*such as "\+49"/],
    ['more segments than are sent', `${TWILIO}, max_segments: 11`, /max_segments: 11 does not fit.*1 to 10/],
    ['a rate of nothing', `${FCM}, rate: { per_second: 0 }`, /per_second: 0 does not fit.*0\.01 to 10000/],
    ['a key of another kind', `${FCM}, from: "+4915112345678"`, /there is no setting from here/],
  ])('are refused with %s', (_what, body, expected) => {
    expect(own(body)).toEqual([expect.stringMatching(expected)]);
  });

  test('never show a secret that is in the file', () => {
    const clear = [
      TWILIO.replace('{ secret: TOKEN }', 'hunter2'),
      `${TWILIO}, api_key: { sid: SK01, secret: hunter2 }`,
      FCM.replace('{ secret: FCM }', '"{ private_key: hunter2 }"'),
    ].flatMap((body) => [...own(body), ...words({ 'carillon.yaml': `accounts: { sms: [{ name: a, ${body} }] }\n` })]);
    expect(clear.length).toBeGreaterThanOrEqual(6);
    for (const line of clear) expect(line).not.toContain('hunter2');
    expect(clear.filter((line) => line.includes('a secret must not be written into a file'))).toHaveLength(6);
  });

  test('over http reveal credentials, which causes a warning', () => {
    const { faults, warnings } = read({ 'workspaces/shop/accounts/main.yaml': `{ ${FCM}, url: "http://fcm.test" }\n` });
    expect(faults).toEqual([]);
    expect(warnings.map(({ path }) => path)).toContain('url');
  });
});

describe('the accounts of the deployment', () => {
  test('are one for a channel, or a list of named ones', () => {
    const list = `[{ name: main, ${TWILIO} }, { name: spare, ${TWILIO} }]`;
    expect(words({ 'carillon.yaml': `accounts: { sms: ${list}, push: { ${FCM} } }\n` })).toEqual([]);
  });

  test('each have the channel under which they are listed', () => {
    expect(words({ 'carillon.yaml': `accounts: { sms: { ${FCM} }, push: [{ name: a, ${TWILIO} }] }\n` })).toEqual([
      expect.stringMatching(/accounts\.sms\.kind: .*cannot send sms.*twilio or .*sandbox.*accounts\.push/),
      expect.stringMatching(/accounts\.push\[0\]\.kind: .*cannot send push.*fcm or .*sandbox.*accounts\.sms/),
    ]);
  });

  test('of a list each have a unique name, and there is at least one', () => {
    const twice = `[{ name: a, ${FCM} }, { name: a, ${FCM} }]`;
    expect(words({ 'carillon.yaml': `accounts: { push: ${twice} }\n` })).toEqual([
      expect.stringMatching(/accounts\.push\[1\]\.name: two accounts for push are called a/),
    ]);
    expect(words({ 'carillon.yaml': `accounts: { push: [{ ${FCM} }] }\n` })).toEqual([
      expect.stringMatching(/push\[0\]\.name: name is missing/),
    ]);
    expect(words({ 'carillon.yaml': 'accounts: { push: [] }\n' })).toEqual([
      expect.stringMatching(/at least one account/),
    ]);
  });
});

describe('an account of another channel', () => {
  const over = notificationWith('{ template: order-paid }', '{ template: order-paid, accounts: [main] }');
  const main = { 'workspaces/shop/accounts/main.yaml': `{ ${TWILIO} }\n` };

  test('is refused if a notification names it', () => {
    expect(words({ ...over, ...main })).toEqual([
      expect.stringMatching(/channels\.email\.accounts\[0\]: the account main cannot send email.*smtp or sandbox/),
    ]);
  });

  test('is refused if a notification outside the folder names it', () => {
    const sandbox = { 'workspaces/shop/accounts/main.yaml': 'kind: sandbox\n' };
    const options = {
      prune: false,
      newId: (kind: string) => `${kind}_1`,
      language: smallLanguage,
      templates: smallTemplates,
    };
    const first = planChanges(EMPTY_CONFIGURATION, read({ ...over, ...sandbox }).resources, options);
    const record = { changes: first.record };
    const current = foldConfiguration(EMPTY_CONFIGURATION, record, 0).configuration;
    const account = read(main).resources.filter(({ ref }) => ref.kind === 'account');
    expect(planChanges(current, account, options).faults.map(({ message }) => message)).toEqual([
      'order-paid sends email with the account main, which then has no text for this channel',
    ]);
    expect(planChanges(current, account, { ...options, prune: true }).faults).toEqual([]);
  });
});

describe('DKIM of an account', () => {
  const signed = (domain: string, more = ''): string =>
    smtp(`, dkim: { domain: ${domain}, selector: k1, key: { secret: DKIM_KEY }${more} }`);

  test('is for the domain of its sender or a parent domain; any other causes a warning', () => {
    const warned = (domain: string): readonly string[] =>
      read({ 'workspaces/shop/accounts/mail.yaml': `{ ${signed(domain)} }\n` }).warnings.map(({ path }) => path);
    expect(own(signed('example.com'))).toEqual([]);
    expect(warned('example.com')).not.toContain('dkim.domain');
    expect(warned('example.org')).toContain('dkim.domain');
  });

  test('never shows a key that is in the file', () => {
    const [fault] = own(signed('example.com').replace('{ secret: DKIM_KEY }', 'hunter2'));
    expect(fault).toMatch(/dkim\.key: a secret must not be written into a file.*DKIM_KEY/);
    expect(fault).not.toContain('hunter2');
  });
});

describe('The pages of the provider accounts', () => {
  const SENDING = PROVIDERS.map(({ kind }) => kind).filter((kind) => kind !== 'sandbox');
  const page = ['email-by-smtp', 'sms', 'push-by-firebase']
    .map((name) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8'))
    .join('\n');
  const accounts = [...page.matchAll(/```yaml\n(kind: .*?)```/gs)].map(([, text = '']) => text);

  test('show an account of every kind that sends, each as `apply` takes it', () => {
    expect(accounts.map((text) => /^kind: (\w+)/.exec(text)?.[1])).toEqual(SENDING);
    for (const text of accounts) expect(words({ 'workspaces/shop/accounts/main.yaml': text })).toEqual([]);
  });
});
