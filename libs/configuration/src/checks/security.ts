import {
  findResource,
  hasOwnStream,
  type JwtProviderBody,
  type NotificationBody,
  type Security,
} from '@carillon/domain';
import { whereOf } from './expressions.ts';
import { checkName, type Report, type Surroundings } from './names.ts';
import { fileOf } from '../files/layout.ts';
import type { YamlSource } from '../files/yaml-source.ts';

/** A stream of its own is secured by its notification, a shared one by its own file; never both (interfaces section 1). */
export function checkNotificationSecurity(
  body: NotificationBody,
  workspace: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const rules = Object.values(body.rules);
  const shared = rules.flatMap(({ stream }) => (stream === undefined ? [] : [stream]));
  const files = [...new Set(shared)].map((name) => fileOf('stream', workspace, name));
  if (rules.length > 0 && !rules.some(hasOwnStream)) {
    if (body.security === undefined) return;
    if (files.length === 0) {
      report.faults.push({
        ...whereOf(source, ['security'], 'key'),
        message: 'cohorts start all rules, and nobody sends events to those',
        expected: 'no security',
        fix: 'remove it',
      });
      return;
    }
    report.faults.push({
      ...whereOf(source, ['security'], 'key'),
      message: 'all rules use shared streams, which carry their own security',
      expected: `security in ${files.join(', ')}`,
      fix: `remove it here and write it into ${files.join(', ')}`,
    });
    return;
  }
  if (body.security) return checkSecurity(body.security, workspace, source, around, report);
  if (rules.length === 0) return;
  report.faults.push({
    ...whereOf(source, ['security'], 'key'),
    message:
      'security is missing: a rule without stream has a stream of its own, and somebody has to be allowed to send there',
    expected: EITHER,
    fix: 'add it, or name a shared stream in each rule',
  });
}

const EITHER = 'security: { api_keys: [name] } or { jwt_provider: name }';

/** One kind of credential, and the names that go with it. */
export function checkSecurity(
  security: Security,
  workspace: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const { api_keys: apiKeys, jwt_provider: provider, claims } = security;
  const fault = (key: string | null, message: string, expected: string, fix: string): void =>
    void report.faults.push({
      ...whereOf(source, key === null ? ['security'] : ['security', key], 'key'),
      message,
      expected,
      fix,
    });
  if (apiKeys !== undefined && provider !== undefined) {
    fault(
      'jwt_provider',
      'a stream takes API keys or tokens, not both',
      EITHER,
      'remove one; for both kinds of senders make two streams',
    );
  }
  if (apiKeys === undefined && provider === undefined) {
    fault(null, 'nobody is allowed to send here', EITHER, 'name an API key or a JWT provider');
  }
  if (claims !== undefined && provider === undefined) {
    fault('claims', 'an API key has no claims', 'claims beside jwt_provider', 'remove claims');
  }
  checkKeys(apiKeys ?? [], workspace, source, around, report);
  if (provider === undefined) return;
  checkName(['security', 'jwt_provider'], 'jwt_provider', workspace, provider, source, around, report);
  if (Object.keys(claims ?? {}).length > 0) return;
  report.warnings.push({
    ...whereOf(source, ['security', 'jwt_provider']),
    message: `everybody with a token of ${provider} may send any event here, also one about somebody else`,
    fix: 'bind a claim to a field, such as claims: { sub: event.user_id }; leave it if only your servers get such tokens',
  });
}

function checkKeys(
  names: readonly string[],
  workspace: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  for (const [index, name] of names.entries()) {
    if (findResource(around.current, 'api_key', workspace, name)) continue;
    report.warnings.push({
      ...whereOf(source, ['security', 'api_keys', index]),
      message: `there is no API key ${name} yet, so nobody can send with it`,
      fix: `run: npx carillon api-key create ${name} --workspace ${workspace}`,
    });
  }
}

/** What the specification leaves to the user and is dangerous all the same is said in words. */
export function checkJwtProvider(body: JwtProviderBody, source: YamlSource, report: Report): void {
  if (body.audience === undefined) {
    report.warnings.push({
      ...whereOf(source, ['audience'], 'key'),
      message:
        'audience is left out, so every token of this issuer is taken, also one that was made for another service',
      fix: 'write audience: the value that the issuer puts into `aud` for you; without it, anybody whom the issuer serves can send',
    });
  }
  if (body.jwks_url.startsWith('http:')) {
    report.warnings.push({
      ...whereOf(source, ['jwks_url']),
      message:
        'the keys come over http, where anybody on the way can exchange them; they are fetched only from addresses that the operator allows',
      fix: 'write https, unless it is on this machine',
    });
  }
}
