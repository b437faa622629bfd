import { isKind } from '../resource.ts';
import type { Check } from './check-context.ts';

/** What the shape of `sign_in` cannot say. */
export const checkSignIn: Check = (resource, around, report) => {
  if (!isKind(resource, 'deployment')) return;
  const { sign_in: signIn, portal_url: portalUrl } = resource.body;
  const { passwords = true, providers = [] } = signIn ?? {};
  if (!passwords && providers.length === 0) {
    report.warn(['sign_in', 'passwords'], {
      code: 'sign_in_closed',
      facts: {},
      message: 'without passwords and without a provider only owner links sign in',
      fix: 'add a provider under sign_in.providers, or remove passwords: false',
    });
  }
  if (providers.length > 0 && portalUrl === undefined) {
    report.fault(['sign_in', 'providers'], {
      code: 'sign_in_without_portal_url',
      facts: {},
      message: 'providers send people back to the portal, and it has no address',
      expected: 'portal_url beside sign_in',
      fix: 'add portal_url: https://carillon.example.com',
    });
  }
  for (const [index, provider] of providers.entries()) {
    const at = ['sign_in', 'providers', index] as const;
    const before = providers.slice(0, index);
    if (before.some(({ name }) => name === provider.name)) {
      const message = `two providers are called ${provider.name}`;
      const coded = { code: 'sign_in_name_taken', facts: { name: provider.name } } as const;
      const words = { message, expected: 'a name of its own', fix: 'rename one of them' };
      report.fault([...at, 'name'], { ...coded, ...words });
    }
    // Who somebody is is issuer and subject: two sets of roles for one person would undo each other.
    if (before.some(({ issuer }) => issuer === provider.issuer)) {
      const message = `two providers have the issuer ${provider.issuer}`;
      const coded = { code: 'sign_in_issuer_taken', facts: { issuer: provider.issuer } } as const;
      const words = { message, expected: 'one provider for an issuer', fix: 'remove one of them' };
      report.fault([...at, 'issuer'], { ...coded, ...words });
    }
    if (provider.issuer.startsWith('http:')) {
      report.warn([...at, 'issuer'], {
        code: 'insecure_url',
        facts: {},
        message: 'http lets whoever stands between sign in as anybody',
        fix: 'write https, unless the address is on this machine',
      });
    }
    if (provider.allowed_domains === undefined && provider.roles === undefined) {
      report.warn([...at], {
        code: 'sign_in_admits_nobody',
        facts: {},
        message: 'nobody new comes in: neither a domain nor a group lets anybody in',
        fix: 'add allowed_domains or roles; without them, only people who connected their account in the profile sign in',
      });
    }
    for (const [place, { workspace }] of (provider.roles ?? []).entries()) {
      if (workspace === undefined || around.workspace(workspace) !== undefined) continue;
      report.warn([...at, 'roles', place, 'workspace'], {
        code: 'workspace_unknown',
        facts: { workspace, meant: '' },
        message: `there is no workspace ${workspace} yet`,
        fix: 'look at its name, or make it',
      });
    }
  }
};
