import { formatFault } from '@carillon/configuration';
import { describe, expect, test } from 'vitest';
import { read } from './support/folder.ts';

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
      `${NOTIFICATION}:6:45  rules.paid.recipients.to: whoever has a token of auth chooses who is told: ${field} is bound by no claim`.slice(
        60,
      ),
    );
    expect(line).toContain('open_recipients: true');
  });

  test.each([
    ['an address that a claim binds', 'email: event.email', 'to: { email: event.email }'],
    ['an address of the rule itself', 'sub: event.user_id', 'to: { email: "ops@example.com" }'],
    ['a list made of bound fields', 'email: event.email', 'for_each: "[event.email]", to: { email: item }'],
  ])('%s is taken without a word', (_what, claims, recipients) => {
    const reading = onStream(claims, recipients);
    expect(told(reading)).toEqual([]);
    expect(reading.warnings).toEqual([]);
  });

  test('that says open_recipients: true is taken with a warning', () => {
    const reading = onStream('sub: event.user_id', 'to: { email: event.email }', OPEN);
    expect(told(reading)).toEqual([]);
    expect(reading.warnings).toMatchObject([
      {
        file: NOTIFICATION,
        path: 'rules.paid.open_recipients',
        message: 'whoever has a token of auth chooses who is told: event.email is bound by no claim',
      },
    ]);
  });

  test('with a stream of its own is looked at in the same way', () => {
    const files = (claims: string) => ({
      'workspaces/shop/jwt-providers/auth.yaml': 'jwks_url: https://auth.example.com/jwks\naudience: shop\n',
      [NOTIFICATION]: notification('to: { email: event.email }', '', 'enabled: true', `security: ${secured(claims)}\n`),
    });
    expect(told(read(files('sub: event.user_id')))).toEqual([
      expect.stringContaining('event.email is bound by no claim'),
    ]);
    expect(told(read(files('email: event.email')))).toEqual([]);
  });
});

test('with API keys the event may name whom it likes: they are held by your own servers', () => {
  expect(told(read({}))).toEqual([]);
});
