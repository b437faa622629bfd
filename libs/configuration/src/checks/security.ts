import { findResource, hasOwnStream, type NotificationBody, type Security } from '@carillon/domain/configuration';
import { fileOf } from '../files/layout.ts';
import { isKind } from '../resource.ts';
import type { Report } from './finding.ts';
import { checkName } from './names.ts';
import type { Check, CheckedAgainst } from './check-context.ts';

/** A stream of its own is secured by its notification, a shared one by its own file; never both (interfaces section 1). */
export function checkNotificationSecurity(
  body: NotificationBody,
  workspace: string,
  around: CheckedAgainst,
  report: Report,
): void {
  const rules = Object.values(body.rules);
  const shared = rules.flatMap(({ stream }) => (stream === undefined ? [] : [stream]));
  const files = [...new Set(shared)].map((name) => fileOf('stream', workspace, name));
  if (rules.length > 0 && !rules.some(hasOwnStream)) {
    if (body.security === undefined) return;
    if (files.length === 0) {
      const message = 'cohorts start all rules, and nobody sends events to those';
      const words = { message, expected: 'no security', fix: 'remove it' };
      report.fault(['security'], { code: 'security_unused', facts: { reason: 'cohort' }, ...words }, 'key');
      return;
    }
    const message = 'all rules use shared streams, which carry their own security';
    const fix = `remove it here and write it into ${files.join(', ')}`;
    const words = { message, expected: `security in ${files.join(', ')}`, fix };
    report.fault(['security'], { code: 'security_unused', facts: { reason: 'stream' }, ...words }, 'key');
    return;
  }
  if (body.security) return checkSecurity(body.security, workspace, around, report);
  if (rules.length === 0) return;
  const message =
    'security is missing: a rule without stream has a stream of its own, and somebody has to be allowed to send there';
  const words = { message, expected: EITHER, fix: 'add it, or name a shared stream in each rule' };
  report.fault(['security'], { code: 'security_missing', facts: {}, ...words }, 'key');
}

type PlainCode = 'security_twice' | 'security_empty' | 'claims_without_provider';
type Words = { readonly message: string; readonly expected: string; readonly fix: string };

const EITHER = 'security: { api_keys: [name] } or { jwt_provider: name }';

/** One kind of credential, and the names that go with it. */
export function checkSecurity(security: Security, workspace: string, around: CheckedAgainst, report: Report): void {
  const { api_keys: apiKeys, jwt_provider: provider, webhook_secret: secret, claims } = security;
  const fault = (key: string | null, code: PlainCode, words: Words): void =>
    report.fault(key === null ? ['security'] : ['security', key], { code, facts: {}, ...words }, 'key');
  if (apiKeys !== undefined && provider !== undefined) {
    fault('jwt_provider', 'security_twice', {
      message: 'a stream takes API keys or tokens, not both',
      expected: EITHER,
      fix: 'remove one; for both kinds of senders make two streams',
    });
  }
  if (secret !== undefined && (apiKeys !== undefined || provider !== undefined)) {
    fault('webhook_secret', 'security_twice', {
      message: 'a stream takes signed requests, API keys or tokens: one of them',
      expected: `${EITHER} or { webhook_secret: { secret: NAME } }`,
      fix: 'remove one; for both kinds of senders make two streams',
    });
  }
  if (apiKeys === undefined && provider === undefined && secret === undefined) {
    const message = 'nobody is allowed to send here';
    fault(null, 'security_empty', { message, expected: EITHER, fix: 'name an API key or a JWT provider' });
  }
  if (claims !== undefined && provider === undefined) {
    const message = 'an API key has no claims';
    const words = { message, expected: 'claims beside jwt_provider', fix: 'remove claims' };
    fault('claims', 'claims_without_provider', words);
  }
  checkKeys(apiKeys ?? [], workspace, around, report);
  if (provider === undefined) return;
  checkName(['security', 'jwt_provider'], { kind: 'jwt_provider', workspace, name: provider }, around, report);
  if (Object.keys(claims ?? {}).length > 0) return;
  report.warn(['security', 'jwt_provider'], {
    code: 'claims_missing',
    facts: { provider },
    message: `everybody with a token of ${provider} may send any event here, also one about somebody else`,
    fix: 'bind a claim to a field, such as claims: { sub: event.user_id }; leave it if only your servers get such tokens',
  });
}

function checkKeys(names: readonly string[], workspace: string, around: CheckedAgainst, report: Report): void {
  for (const [index, name] of names.entries()) {
    if (findResource(around.current, 'api_key', workspace, name)) continue;
    report.warn(['security', 'api_keys', index], {
      code: 'api_key_unknown',
      facts: { name },
      message: `there is no API key ${name} yet, so nobody can send with it`,
      fix: `run: npx carillon api-key create ${name} --workspace ${workspace}`,
    });
  }
}

/** What the specification leaves to the user and is dangerous all the same is said in words. */
export const checkJwtProvider: Check = (resource, _around, report) => {
  if (!isKind(resource, 'jwt_provider')) return;
  const { body } = resource;
  if (body.audience === undefined) {
    const message =
      'audience is left out, so every token of this issuer is taken, also one that was made for another service';
    const fix =
      'write audience: the value that the issuer puts into `aud` for you; without it, anybody whom the issuer serves can send';
    report.warn(['audience'], { code: 'audience_missing', facts: {}, message, fix }, 'key');
  }
  if (body.jwks_url.startsWith('http:')) {
    report.warn(['jwks_url'], {
      code: 'insecure_url',
      facts: {},
      message:
        'the keys come over http, where anybody on the way can exchange them; they are fetched only from addresses that the operator allows',
      fix: 'write https, unless it is on this machine',
    });
  }
};
