import { formatFault, type Plan, planChanges, readConfigurationFolder } from '@carillon/configuration';
import { type Configuration, EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { describe, expect, test } from 'vitest';
import { goodFolder, read } from './support/folder.ts';
import { reading as context } from './support/small-language.ts';

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const notification = (recipients: string, more = '', rule = 'stream: orders', security = ''): string =>
  `${security}channels: { email: { template: order-paid } }
rules:
  paid:
    ${rule}
    when: event.paid
${more}    recipients: { from: event, unique_id: event_id, ${recipients} }
`;
const secured = (claims: string): string => `{ jwt_provider: auth${claims === '' ? '' : `, claims: { ${claims} }`} }`;
const onStream = (claims: string, recipients: string, more = '') =>
  read({
    'workspaces/shop/streams/orders.yaml': `security: ${secured(claims)}\n`,
    'workspaces/shop/jwt-providers/auth.yaml': 'jwks_url: https://auth.example.com/jwks\naudience: shop\n',
    [NOTIFICATION]: notification(recipients, more),
  });
const told = ({ faults }: ReturnType<typeof read>): readonly string[] => faults.map(formatFault);
const OPEN = '    open_recipients: true\n';

describe('a rule on a stream for token holders', () => {
  test.each([
    ['that names an address which no claim binds', 'sub: event.user_id', 'to: { email: event.email }', 'event.email'],
    ['without any claim', '', 'to: { email: event.email }', 'event.email'],
    ['that mixes a bound field with another', 'sub: event.id', 'to: { email: event.id + event.host }', 'event.host'],
    ['whose list is in the event', 'sub: event.id', 'for_each: event.watchers, to: { email: item }', 'event.watchers'],
    ['with a phone number of the event', 'sub: event.id', 'to: { phone: event.phone }', 'event.phone'],
    ['that reads the event as a whole', 'sub: event.id', 'to: { email: string(event) }', 'event'],
  ])('%s is refused, with the field and the ways out', (_what, claims, recipients, field) => {
    const [line, ...others] = told(onStream(claims, recipients));
    expect(others).toEqual([]);
    expect(line).toContain(
      `${NOTIFICATION}:6:45  rules.paid.recipients.to: everybody with a token of auth could choose who is notified, by the field ${field}`.slice(
        60,
      ),
    );
    expect(line).toContain('open_recipients: true');
  });

  test.each([
    ['an address that a claim binds', 'email: event.email', 'to: { email: event.email }'],
    ['an address of the rule itself', 'sub: event.user_id', 'to: { email: "ops@example.com" }'],
    ['a list made of bound fields', 'email: event.email', 'for_each: "[event.email]", to: { email: item }'],
  ])('%s is accepted without a warning', (_what, claims, recipients) => {
    const reading = onStream(claims, recipients);
    expect(told(reading)).toEqual([]);
    expect(reading.warnings).toEqual([]);
  });

  test('with open_recipients: true is accepted with a warning', () => {
    const reading = onStream('sub: event.user_id', 'to: { email: event.email }', OPEN);
    expect(told(reading)).toEqual([]);
    expect(reading.warnings).toMatchObject([
      {
        file: NOTIFICATION,
        path: 'rules.paid.open_recipients',
        message: 'everybody with a token of auth chooses who is notified, by the field event.email',
      },
    ]);
  });

  test('without a shared stream is checked in the same way', () => {
    const files = (claims: string) => ({
      'workspaces/shop/jwt-providers/auth.yaml': 'jwks_url: https://auth.example.com/jwks\naudience: shop\n',
      [NOTIFICATION]: notification('to: { email: event.email }', '', 'enabled: true', `security: ${secured(claims)}\n`),
    });
    expect(told(read(files('sub: event.user_id')))).toEqual([expect.stringContaining('by the field event.email')]);
    expect(told(read(files('email: event.email')))).toEqual([]);
  });
});

test('a rule on a stream with API keys may name any recipient, because your own servers hold the keys', () => {
  expect(told(read({}))).toEqual([]);
});

const STREAM = 'workspaces/shop/streams/orders.yaml';
const AUTH = {
  'workspaces/shop/jwt-providers/auth.yaml': 'jwks_url: https://auth.example.com/jwks\naudience: shop\n',
};
const TEXT = notification('to: { email: event.email }');
const planOf = (current: Configuration, files: Readonly<Record<string, string>>, prune = false) => {
  const folder = readConfigurationFolder(new Map(Object.entries(files)), { ...context, current });
  expect(told(folder)).toEqual([]);
  let made = 0;
  const newId = (kind: 'notification' | 'rule'): string =>
    `${kind === 'rule' ? 'rul' : 'ntf'}_${String((made += 1)).padStart(26, '0')}`;
  const plan = planChanges(current, folder.resources, {
    prune,
    newId,
    language: context.language,
    templates: context.templates,
  });
  return { plan, faults: plan.faults.map(folder.faultAt), warnings: plan.warnings.map(folder.warningAt) };
};
const folded = (current: Configuration, plan: Plan): Configuration =>
  foldConfiguration(current, { changes: plan.record }, current.number + 1).configuration;
/** A server with the rule, its stream still taking API keys, and the provider. */
const server = (text = TEXT): Configuration =>
  folded(EMPTY_CONFIGURATION, planOf(EMPTY_CONFIGURATION, { ...goodFolder, ...AUTH, [NOTIFICATION]: text }).plan);
const stream = (claims: string) => ({ [STREAM]: `key: event.order_id\nsecurity: ${secured(claims)}\n` });

describe('a partial folder that opens a stream to token holders', () => {
  test('is refused because of a rule on the server, with that resource and the ways out', () => {
    const { plan, faults } = planOf(server(), stream('sub: event.user_id'));
    expect(plan.record).toEqual([]);
    expect(faults).toEqual([
      {
        file: STREAM,
        path: 'security',
        line: 2,
        column: 1,
        message: 'everybody with a token of auth could choose who is notified of order-paid, by the field event.email',
        expected: 'an address that a claim of the token binds',
        fix: `bind it here, such as claims: { email: event.email }; or put ${NOTIFICATION} into the folder, and name the recipients by a lookup or write open_recipients: true for the rule if everybody with a token may send to anybody`,
      },
    ]);
  });

  test('is refused in the same way if only the bound claim is removed', () => {
    const bound = planOf(server(), stream('email: event.email'));
    expect(bound.faults).toEqual([]);
    expect(planOf(folded(server(), bound.plan), stream('sub: event.user_id')).faults).toHaveLength(1);
  });

  test('is accepted if prune removes the rule', () => {
    const whole = Object.entries({ ...goodFolder, ...AUTH, ...stream('sub: event.user_id') });
    const rest = Object.fromEntries(whole.filter(([file]) => file !== NOTIFICATION));
    expect(planOf(server(), rest, true).faults).toEqual([]);
    expect(planOf(server(), rest, false).faults).toHaveLength(1);
  });

  test('is accepted if the notification is in the folder, renamed and corrected', () => {
    const id = [...server().resources.values()].flatMap(({ body }) => ('id' in body && body.id ? [body.id] : []))[0];
    const renamed = 'workspaces/shop/notifications/paid-order.yaml';
    const mended = `id: ${id}\n${notification('to: { email: "ops@example.com" }')}`;
    expect(planOf(server(), { ...stream('sub: event.user_id'), [renamed]: mended }).faults).toEqual([]);
  });

  test('is accepted with a warning if the rule says open_recipients: true', () => {
    const { faults, warnings } = planOf(
      server(notification('to: { email: event.email }', OPEN)),
      stream('sub: event.user_id'),
    );
    expect(faults).toEqual([]);
    expect(warnings).toMatchObject([{ file: STREAM, path: 'security' }]);
    expect(warnings[0]?.message).toContain('who is notified of order-paid');
  });

  test('is accepted without a warning if only other workspaces or other streams have such a rule', () => {
    const other = Object.fromEntries(
      Object.entries({ ...goodFolder, ...AUTH }).map(([file, text]) => [file.replace('/shop/', '/blog/'), text]),
    );
    const { plan } = planOf(server(), other);
    const current = folded(server(), plan);
    expect(planOf(current, { 'workspaces/shop/streams/other.yaml': `security: ${secured('')}\n` }).faults).toEqual([]);
    const blog = { 'workspaces/blog/streams/news.yaml': `security: ${secured('')}\n` };
    expect(planOf(current, blog).faults).toEqual([]);
  });
});
