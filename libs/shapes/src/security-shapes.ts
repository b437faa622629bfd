import { parseDuration } from '@carillon/kernel';
import { z } from 'zod';
import { duration, expression, keys, said, secret, slug, text } from './shape-parts.ts';
import { DEFAULTS, JWT_ALGORITHMS } from './values.ts';

/** Security settings of streams and notifications (who may send), and the JWT providers that they name. */

const CLAIM_NAME = /^(?!__proto__$|constructor$)[^\s"\\]{1,200}$/;

const senders = {
  api_keys: said(
    z
      .array(slug)
      .min(1, { error: 'one API key, or two while rotating' })
      .max(2, { error: 'one API key, or two while rotating' })
      .exactOptional(),
    {
      description:
        'Names of API keys of the workspace that may send here: one, or two while rotating. Either this or `jwt_provider`.',
      example: ['backend'],
    },
  ),
  jwt_provider: said(slug.exactOptional(), {
    description:
      'Name of a JWT provider of the workspace (jwt-providers/<name>.yaml): its tokens may send here. Either this or `api_keys`.',
    example: 'auth',
  }),
  claims: said(
    z
      .record(z.string().regex(CLAIM_NAME, { error: 'the name of a claim, without spaces and quotes' }), expression())
      .refine((claims) => Object.keys(claims).length <= 10, { error: 'at most 10 claims' })
      .exactOptional(),
    {
      description:
        'With `jwt_provider`: claims of the token, each with the field of the event that must equal it (text or whole number). Otherwise the event is refused (403).',
      example: { sub: 'event.user_id' },
    },
  ),
};

/** `checks/security.ts` checks that exactly one kind of credential is set, because it can say what to do. */
export const security = keys(senders);

export const streamSecurity = keys({
  ...senders,
  webhook_secret: said(secret.exactOptional(), {
    description:
      'With `format: debezium`: reference to the secret with which Debezium Server signs each request (Standard Webhooks). In place of `api_keys` and `jwt_provider`.',
    example: { secret: 'DEBEZIUM' },
  }),
});

const webAddress = z.string().max(2048, { error: 'at most 2048 characters' }).refine(isWebAddress, {
  error: 'an address such as https://auth.example.com/jwks, without user, password and #',
});

function isWebAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password, hash } = new URL(address);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hash === '';
}

/** A tolerance beyond this would be a longer life for every token. */
const MAX_CLOCK_TOLERANCE = 600_000;

const tolerance = duration.refine(
  (span) => {
    const read = parseDuration(span);
    return !read.ok || read.value <= MAX_CLOCK_TOLERANCE;
  },
  { error: 'a duration of at most 10m' },
);

const ONE_OR_MORE = { error: 'a text, or a list of 1 to 20' };
const oneOrMore = z.union([text(500), z.array(text(500)).min(1, ONE_OR_MORE).max(20, ONE_OR_MORE)], ONE_OR_MORE);

export const jwtAlgorithm = z.enum(JWT_ALGORITHMS);

export const jwtProviderShape = keys({
  jwks_url: said(webAddress, {
    description: 'Address of the JSON Web Key Set: the public keys that verify the tokens.',
    example: 'https://auth.example.com/.well-known/jwks.json',
  }),
  issuer: said(text(500).exactOptional(), {
    description: 'The token’s `iss` has to be exactly this.',
    otherwise: 'any',
    example: 'https://auth.example.com/',
  }),
  audience: said(oneOrMore.exactOptional(), {
    description:
      'The token’s `aud` has to hold this, or one of these. Without it, tokens for other services are accepted too.',
    otherwise: 'any',
    example: 'https://events.example.com',
  }),
  algorithms: said(z.array(jwtAlgorithm).min(1, { error: 'at least one algorithm' }).exactOptional(), {
    description: 'Accepted signature algorithms. Only public-key algorithms are allowed; never HS256 or none.',
    default: DEFAULTS.jwt_provider.algorithms,
    example: ['RS256'],
  }),
  token_type: said(text(100).exactOptional(), {
    description: 'The token’s header `typ` has to be this.',
    otherwise: 'none, `JWT` or `at+jwt`',
    example: 'at+jwt',
  }),
  clock_tolerance: said(tolerance.exactOptional(), {
    description: 'How far the clocks of the issuer and of Carillon may be apart; at most 10m.',
    default: DEFAULTS.jwt_provider.clock_tolerance,
  }),
  max_token_age: said(duration.exactOptional(), {
    description: 'How old a token may be, counted from its `iat`, which it then has to have.',
    otherwise: 'as long as its `exp` says',
    example: '1h',
  }),
});
