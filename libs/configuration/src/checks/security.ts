import { findResource, hasOwnStream, type NotificationBody, type Security } from '@carillon/domain/configuration';
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
  if (rules.length > 0 && !rules.some(hasOwnStream)) {
    if (body.security === undefined) return;
    const streams = new Set(rules.flatMap(({ stream }) => (stream === undefined ? [] : [stream])));
    const facts = { reason: streams.size === 0 ? 'cohort' : 'stream', streams: [...streams].join(', ') };
    report.fault(['security'], { code: 'security_unused', facts }, 'key');
    return;
  }
  if (body.security) return checkSecurity(body.security, workspace, around, report);
  if (rules.length === 0) return;
  report.fault(['security'], { code: 'security_missing', facts: {} }, 'key');
}

type PlainCode = 'security_twice' | 'security_empty' | 'claims_without_provider';

/** Checks that there is one kind of credential, and that the names with it exist. */
export function checkSecurity(security: Security, workspace: string, around: CheckedAgainst, report: Report): void {
  const { api_keys: apiKeys, jwt_provider: provider, webhook_secret: secret, claims } = security;
  const fault = (key: string | null, code: PlainCode): void =>
    report.fault(key === null ? ['security'] : ['security', key], { code, facts: {} }, 'key');
  if (apiKeys !== undefined && provider !== undefined) fault('jwt_provider', 'security_twice');
  if (secret !== undefined && (apiKeys !== undefined || provider !== undefined)) {
    fault('webhook_secret', 'security_twice');
  }
  if (apiKeys === undefined && provider === undefined && secret === undefined) fault(null, 'security_empty');
  if (claims !== undefined && provider === undefined) fault('claims', 'claims_without_provider');
  checkKeys(apiKeys ?? [], workspace, around, report);
  if (provider === undefined) return;
  checkName(['security', 'jwt_provider'], { kind: 'jwt_provider', workspace, name: provider }, around, report);
  if (Object.keys(claims ?? {}).length > 0) return;
  report.warn(['security', 'jwt_provider'], { code: 'claims_missing', facts: { provider } });
}

function checkKeys(names: readonly string[], workspace: string, around: CheckedAgainst, report: Report): void {
  for (const [index, name] of names.entries()) {
    if (findResource(around.current, 'api_key', workspace, name)) continue;
    report.warn(['security', 'api_keys', index], { code: 'api_key_unknown', facts: { name } });
  }
}

/** Warns about settings that the specification allows although they are dangerous. */
export const checkJwtProvider: Check = (resource, _around, report) => {
  if (!isKind(resource, 'jwt_provider')) return;
  const { body } = resource;
  if (body.audience === undefined) {
    report.warn(['audience'], { code: 'audience_missing', facts: {} }, 'key');
  }
  if (body.jwks_url.startsWith('http:')) {
    report.warn(['jwks_url'], { code: 'insecure_url', facts: {} });
  }
};
