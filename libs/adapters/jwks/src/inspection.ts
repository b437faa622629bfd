import { formatInstant, type Instant, type Json } from '@carillon/kernel';
import type { TokenCheck, TokenFault, TokenInspection, TokenProvider } from '@carillon/ports';
import { wordsOf } from './faults.ts';
import { readToken, verifyToken, type ReadToken, type Refusal } from './verify-token.ts';
import type { KeySet } from './key-set.ts';

/** The steps of an inspection, in the order in which a token is judged, with the faults that each can end in. */
const STEPS: readonly {
  readonly step: string;
  readonly faults: readonly TokenFault[];
  readonly say: (token: ReadToken) => string;
}[] = [
  { step: 'token', faults: ['too_long', 'malformed'], say: () => 'a signed JWT' },
  {
    step: 'header',
    faults: ['critical_header', 'algorithm', 'type'],
    say: ({ header }) => `alg ${shown(header['alg'])}, kid ${shown(header['kid'])}, typ ${shown(header['typ'])}`,
  },
  {
    step: 'key',
    faults: ['unknown_key', 'ambiguous_key', 'unusable_key'],
    say: ({ header }) => `the key set has one key for kid ${shown(header['kid'])}`,
  },
  { step: 'signature', faults: ['signature'], say: () => 'made with this key' },
  { step: 'required claims', faults: ['claim_missing', 'claim_malformed'], say: () => 'all there' },
  { step: 'issuer', faults: ['issuer'], say: ({ claims }) => `iss ${shown(claims['iss'])}` },
  { step: 'audience', faults: ['audience'], say: ({ claims }) => `aud ${shown(claims['aud'])}` },
  {
    step: 'time',
    faults: ['not_yet_valid', 'expired', 'too_old'],
    say: ({ claims }) => `from ${time(claims['nbf'] ?? claims['iat'])} to ${time(claims['exp'])}`,
  },
];
const LONGEST = 200;

/** Formats a value of a token: short, without control sequences of terminals. */
function shown(value: Json | undefined): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(value, (_name, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function time(value: Json | undefined): string {
  const at = typeof value === 'number' ? value * 1000 : Number.NaN;
  return Math.abs(at) < 8.64e15 ? formatInstant(at) : shown(value);
}

/** Tells what a key set holds, and step by step why a token is good or is not. */
export async function inspectToken(
  { settings }: TokenProvider,
  keys: KeySet,
  token: string | null,
  now: Instant,
): Promise<TokenInspection> {
  const found: TokenCheck = { step: 'key set', ok: keys.keys.length > 0, detail: describeKeys(keys) };
  if (token === null || !found.ok) return { steps: [found], claims: null };
  const read = readToken(token, settings);
  const judged = read.ok ? await verifyToken(token, read, settings, keys, now) : read;
  const told = read.ok ? read : read.token;
  if (!judged.ok) return { steps: [found, ...stepsBefore(judged, told, settings.algorithms, now)], claims: null };
  const passed = told ? STEPS.map(({ step, say }) => ({ step, ok: true, detail: say(told) })) : [];
  return { steps: [found, ...passed], claims: judged.claims };
}

function describeKeys({ keys, unusable }: KeySet): string {
  const list = keys.map(
    ({ kid, kind, alg }) => `${kid === null ? 'no kid' : shown(kid)} (${[kind, alg].filter(Boolean).join(' ')})`,
  );
  const rest =
    unusable === 0
      ? ''
      : `; ${unusable} more cannot verify signatures here: a kind that is not known, or RSA with an exponent below 65537`;
  return keys.length === 0 ? `it has no key that can verify a signature${rest}` : `${list.join(', ')}${rest}`;
}

function stepsBefore(
  refusal: Refusal,
  token: ReadToken | null,
  algorithms: readonly string[],
  now: Instant,
): readonly TokenCheck[] {
  const at = STEPS.findIndex(({ faults }) => faults.includes(refusal.fault));
  const failed = STEPS[at];
  if (!failed) return [];
  const passed = STEPS.slice(0, at).map(({ step, say }) => ({ step, ok: true, detail: token ? say(token) : '' }));
  const seen = token ? ` (${failed.say(token)})` : '';
  const more =
    refusal.fault === 'algorithm'
      ? `: ${algorithms.join(', ')}`
      : failed.step === 'time'
        ? `; now it is ${formatInstant(now)}`
        : '';
  return [...passed, { step: failed.step, ok: false, detail: `${wordsOf(refusal)}${more}${seen}` }];
}
