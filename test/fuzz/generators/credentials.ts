import type { Dice } from '../dice.ts';
import { bearer, headerText, JSON_TYPE, orderEvent, requestText, type Header } from './requests.ts';
import { hostileText, mutateText } from './texts.ts';

const KEYS: readonly string[] = [
  '{key}',
  '{key}x',
  '{other}',
  '{owner}',
  'cln_',
  'cln___',
  'cln_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaa',
  `cln_${'a'.repeat(7_000)}`,
  'cln_\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4_x_y',
  'own_x',
  '__proto__',
  '',
];

const ALGORITHMS = ['none', 'None', 'HS256', 'RS256', 'ES256', 'ES512', 'EdDSA', '', null, 1, ['ES256'], { a: 1 }];
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A claim or a member of a header of no sensible value. */
const odd = (dice: Dice): unknown =>
  dice.pick<unknown>([
    null,
    true,
    0,
    -1,
    1e308,
    '',
    'x',
    [],
    {},
    ['shop'],
    { sub: 'ada' },
    'NaN',
    4_102_444_800,
    hostileText(dice).slice(0, 200),
  ]);

const CLAIMS = ['sub', 'iss', 'aud', 'exp', 'nbf', 'iat', 'jti', '__proto__', 'constructor', 'user_id'];
const HEADERS = ['kid', 'typ', 'crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'cty', 'zip', '__proto__'];
const GOOD = { iss: 'https://issuer.example', aud: 'shop', sub: 'ada' };

/** Really signed by the provider, with claims or a header that are not as they should be. */
function signedToken(dice: Dice): string {
  const claims: Record<string, unknown> = { ...GOOD };
  const header: Record<string, unknown> = {};
  for (let slips = dice.between(0, 2); slips > 0; slips -= 1) claims[dice.pick(CLAIMS)] = odd(dice);
  if (dice.chance(0.3)) header[dice.pick(HEADERS)] = odd(dice);
  return `{signed:${Buffer.from(JSON.stringify({ claims, header })).toString('base64url')}}`;
}

/** In the form of a token; nobody signed it. */
function forgedToken(dice: Dice): string {
  const header = {
    alg: dice.pick(ALGORITHMS),
    kid: dice.pick(['fuzz', '../../etc/passwd', '', '__proto__', 7]),
    typ: 'JWT',
  };
  const jwk = dice.chance(0.3)
    ? { jwk: { kty: 'oct', k: 'AAAA' }, jku: 'http://127.0.0.1:9/keys', x5u: 'file:///x' }
    : {};
  const token = `${part({ ...header, ...jwk })}.${part({ ...GOOD, exp: 4_102_444_800 })}.${dice.pick(['', 'AAAA', 'A'.repeat(86), '\xff'])}`;
  switch (dice.between(0, 5)) {
    case 0:
      return mutateText(dice, token).replaceAll(/[\r\n]/g, ' ');
    case 1:
      return `${token}.${token}`;
    case 2:
      return dice.pick([
        '..',
        'a.b.c',
        '.'.repeat(3_000),
        'e30.e30.',
        `${'A'.repeat(9_000)}.e30.AAAA`,
        'bnVsbA.bnVsbA.AAAA',
      ]);
    default:
      return token;
  }
}

const latin = (text: string): string => [...text].map((one) => (one > '\xff' || one < ' ' ? '?' : one)).join('');

function authorization(dice: Dice): readonly Header[] {
  const credential = latin(
    dice.weighted<() => string>([
      [4, () => dice.pick(KEYS)],
      [4, () => signedToken(dice)],
      [4, () => forgedToken(dice)],
      [1, () => headerText(dice)],
    ])(),
  );
  switch (dice.between(0, 11)) {
    case 0:
      return [
        [
          'authorization',
          `${dice.pick(['Basic', 'Digest', 'bearer', 'BEARER', 'Bearer\t', 'Bearer  ', ''])} ${credential}`,
        ],
      ];
    case 1:
      return [bearer(credential), bearer('{key}')];
    case 2:
      return [['authorization', credential]];
    case 3:
      return [];
    case 4:
      return [['cookie', `carillon_session_{port}=${credential}; a=b; =; ;;`]];
    default:
      return [bearer(credential)];
  }
}

/** Requests that would be fine, but for what they show. */
export function credentialRequest(dice: Dice): { readonly to: 'gateway' | 'control'; readonly request: string } {
  const shown = authorization(dice);
  const body = JSON.stringify(orderEvent(dice));
  switch (dice.between(0, 7)) {
    case 0: {
      const path = dice.pick([
        '/v1/status',
        '/v1/secrets',
        '/v1/workspaces/shop/events',
        '/docs/api',
        '/',
        '/v1/openapi.json',
      ]);
      return { to: 'control', request: requestText('GET', path, shown) };
    }
    case 1: {
      const word = JSON.stringify({ word: dice.pick<unknown>([hostileText(dice).slice(0, 300), 1, null, '', 'x']) });
      return { to: 'control', request: requestText('POST', '/v1/session', [JSON_TYPE, ...shown], word) };
    }
    case 2: {
      const path = `/cohorts/shop/${dice.pick(['mixpanel', 'amplitude', 'feed', 'segment', 'crm', '__proto__'])}`;
      return { to: 'gateway', request: requestText('POST', path, [JSON_TYPE, ...shown], '{}') };
    }
    case 3: {
      const path = '/v1/workspaces/shop/jwt-providers/auth/check';
      const token = latin(dice.chance(0.5) ? forgedToken(dice) : headerText(dice));
      return {
        to: 'control',
        request: requestText(
          'POST',
          path,
          [bearer('{owner}'), JSON_TYPE],
          JSON.stringify({ token: token.replaceAll(/[^\x20-\x7e]/g, '?') }),
        ),
      };
    }
    default: {
      const path = `/events/shop/${dice.pick(['app', 'app', 'orders', 'timed', 'none'])}`;
      return { to: 'gateway', request: requestText('POST', path, [JSON_TYPE, ...shown], body) };
    }
  }
}
