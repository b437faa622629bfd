import { isKind } from '../resource.ts';
import type { Check } from './check-context.ts';

/** Checks `sign_in` for mistakes that its shape cannot express. */
export const checkSignIn: Check = (resource, around, report) => {
  if (!isKind(resource, 'deployment')) return;
  const { sign_in: signIn, portal_url: portalUrl } = resource.body;
  const { passwords = true, providers = [] } = signIn ?? {};
  if (!passwords && providers.length === 0) {
    report.warn(['sign_in', 'passwords'], { code: 'sign_in_closed', facts: {} });
  }
  if (providers.length > 0 && portalUrl === undefined) {
    report.fault(['sign_in', 'providers'], { code: 'sign_in_without_portal_url', facts: {} });
  }
  for (const [index, provider] of providers.entries()) {
    const at = ['sign_in', 'providers', index] as const;
    const before = providers.slice(0, index);
    if (before.some(({ name }) => name === provider.name)) {
      report.fault([...at, 'name'], { code: 'sign_in_name_taken', facts: { name: provider.name } });
    }
    // A person is identified by issuer and subject. Two providers with one issuer would overwrite each other's roles.
    if (before.some(({ issuer }) => issuer === provider.issuer)) {
      report.fault([...at, 'issuer'], { code: 'sign_in_issuer_taken', facts: { issuer: provider.issuer } });
    }
    if (provider.issuer.startsWith('http:')) {
      report.warn([...at, 'issuer'], { code: 'insecure_url', facts: {} });
    }
    if (provider.allowed_domains === undefined && provider.roles === undefined) {
      report.warn([...at], { code: 'sign_in_admits_nobody', facts: {} });
    }
    for (const [place, { workspace }] of (provider.roles ?? []).entries()) {
      if (workspace === undefined || around.workspace(workspace) !== undefined) continue;
      report.warn([...at, 'roles', place, 'workspace'], {
        code: 'workspace_unknown',
        facts: { workspace },
      });
    }
  }
};
