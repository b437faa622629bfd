import { formatFault } from '@carillon/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';

const STREAM = 'workspaces/shop/streams/orders.yaml';
const PROVIDER = 'workspaces/shop/jwt-providers/auth.yaml';
const WHOLE = 'jwks_url: https://auth.example.com/jwks\naudience: shop\n';
/** Whom the rule tells is not the event's to say. */
const TO_US = notificationWith(
  '      to: { email: event.customer.email }',
  '      to: { email: "\'ops@example.com\'" }',
);
const secured = (security: string, provider: string | null = WHOLE) =>
  read({ [STREAM]: `security: ${security}\n`, [PROVIDER]: provider, ...TO_US });
const sentences = (reading: ReturnType<typeof read>): readonly string[] => reading.faults.map(formatFault);

describe('security: { jwt_provider: … }', () => {
  test('with a bound claim is accepted without warning', () => {
    const { resources, faults, warnings } = secured('{ jwt_provider: auth, claims: { sub: event.user_id } }');
    expect([faults, warnings]).toEqual([[], []]);
    expect(resources.find(({ ref }) => ref.kind === 'jwt_provider')?.body).toEqual({
      jwks_url: 'https://auth.example.com/jwks',
      audience: 'shop',
    });
    expect(resources.find(({ ref }) => ref.kind === 'stream')?.body).toEqual({
      security: { jwt_provider: 'auth', claims: { sub: 'event.user_id' } },
    });
  });

  test('without a bound claim is accepted with the warning that any holder may send about anyone', () => {
    const { faults, warnings } = secured('{ jwt_provider: auth }');
    expect(faults).toEqual([]);
    expect(warnings).toMatchObject([
      {
        file: STREAM,
        path: 'security.jwt_provider',
        fix: expect.stringContaining('claims: { sub: event.user_id }') as string,
      },
    ]);
  });

  test.each([
    ['a provider that is not there', '{ jwt_provider: auht }', 'there is no JWT provider auht', 'did you mean auth?'],
    [
      'both kinds of credentials',
      '{ api_keys: [a], jwt_provider: auth }',
      'a stream takes API keys, tokens or signed requests, not two of them',
      'remove one',
    ],
    ['neither', '{ claims: { sub: event.user_id } }', 'nobody is allowed to send events here yet', 'name an API key'],
    [
      'claims of an API key',
      '{ api_keys: [a], claims: { sub: event.user_id } }',
      'API keys have no claims',
      'remove claims',
    ],
    ['a path that cannot be read', '{ jwt_provider: auth, claims: { sub: "§" } }', 'unexpected §', 'remove it'],
    ['a claim without a name', '{ jwt_provider: auth, claims: { "": event.a } }', 'cannot be used', 'another name'],
  ])('with %s is refused', (_what, security, message, fix) => {
    const [first = ''] = sentences(secured(security));
    expect(first).toContain(`${STREAM}:1:`);
    expect(first).toContain(message);
    expect(first).toContain(fix);
  });

  test('names the file to write if the workspace has no provider', () => {
    expect(sentences(secured('{ jwt_provider: auth }', null))).toMatchObject([
      expect.stringContaining(`write ${PROVIDER}`),
    ]);
  });
});

describe('a JWT provider', () => {
  test('without audience, or with an http address, is accepted with a warning', () => {
    const { faults, warnings } = secured(
      '{ jwt_provider: auth, claims: { sub: event.a } }',
      'jwks_url: http://auth.example.com/jwks\n',
    );
    expect(faults).toEqual([]);
    expect(warnings.map(({ file, path, message }) => [file, path, message])).toEqual([
      [PROVIDER, 'audience', expect.stringContaining('tokens for other services')],
      [PROVIDER, 'jwks_url', expect.stringContaining('over http')],
    ]);
  });

  test.each([
    ['issuer: x', 'jwks_url is missing'],
    ['jwks_url: ftp://auth.example.com/jwks', 'does not fit; expected an address such as https://'],
    ['jwks_url: https://user:pass@auth.example.com/jwks', '…@auth.example.com'],
    ['jwks_url: https://auth.example.com/jwks#x', 'does not fit; expected an address such as https://'],
    ['jwks_url: /etc/passwd', 'does not fit; expected an address such as https://'],
    ['algorithms: [HS256]', 'expected RS256 or RS384'],
    ['algorithms: [none]', 'expected RS256 or RS384'],
    ['algorithms: [rs256]', 'did you mean RS256?'],
    ['algorithms: []', 'at least one algorithm'],
    ['audience: []', 'a text, or a list of 1 to 20'],
    ['clock_tolerance: 11m', 'a duration of at most 10m'],
    ['max_token_age: soon', 'a duration such as'],
    ['jwks_uri: https://auth.example.com/jwks', 'did you mean jwks_url?'],
    ['secret: abc', 'there is no setting secret here'],
  ])('with %j is refused: %s', (line, says) => {
    const name = line.split(':')[0] ?? '';
    const rest = WHOLE.split('\n').filter((one) => !one.startsWith(`${name}:`));
    const text = [...(line.startsWith('issuer') ? [] : rest), line, ''].join('\n');
    const faults = sentences(secured('{ jwt_provider: auth, claims: { sub: event.a } }', text));
    expect(faults.join('\n')).toContain(says);
    expect(faults.join('\n')).not.toContain('user:pass');
  });
});
