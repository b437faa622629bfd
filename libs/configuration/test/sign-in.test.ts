import { formatFault } from '@carillon/configuration';
import { describe, expect, it } from 'vitest';
import { read } from './support/folder.ts';

const PORTAL = 'portal_url: https://carillon.example.com\n';
const provider = (more = '') =>
  `sign_in:\n  providers:\n    - name: company\n      issuer: https://login.example.com\n      client_id: carillon\n${more}`;
const DOMAINS = '      allowed_domains: [example.com]\n';
const faultsOf = (text: string) => read({ 'carillon.yaml': text }).faults.map(formatFault);
const warningsOf = (text: string) =>
  read({ 'carillon.yaml': text })
    .warnings.filter(({ file }) => file === 'carillon.yaml')
    .map(({ message }) => message);

describe('portal_url', () => {
  it.each(['https://carillon.example.com', 'https://carillon.example.com:8443/', 'http://127.0.0.1:7401'])(
    'is accepted as %s',
    (address) => expect(faultsOf(`portal_url: ${address}\n`)).toEqual([]),
  );

  it.each(['http://carillon.example.com', 'https://example.com/carillon', 'https://a:b@example.com', 'example.com'])(
    'is refused as %s, at its position and with the fix',
    (address) => {
      expect(faultsOf(`portal_url: ${address}\n`)).toEqual([
        expect.stringMatching(/^carillon\.yaml:1:\d+ {2}portal_url: .*https:\/\//),
      ]);
    },
  );
});

describe('sign_in', () => {
  it('accepts a provider with all keys', () => {
    const text = `${PORTAL}${provider(
      `      title: Company account
      client_secret: { secret: OIDC_SECRET }
      scopes: [email, profile, groups]
      allowed_domains: [example.com, example.org]
      email_is_verified: true
      groups_claim: https://example.com/groups
      session: 12h
      roles:
        - { group: carillon-owners, deployment_owner: true }
        - { group: "CN=Shop editors,OU=Groups", workspace: shop, role: editor }
`,
    )}  passwords: false\n`;
    expect([faultsOf(text), warningsOf(text)]).toEqual([[], []]);
  });

  it('needs portal_url for the redirect', () => {
    expect(faultsOf(provider(DOMAINS))).toEqual([expect.stringContaining('portal_url')]);
  });

  it('refuses two providers with the same name or issuer', () => {
    const twice = provider(DOMAINS) + provider(DOMAINS).split('\n').slice(2).join('\n');
    expect(faultsOf(PORTAL + twice)).toEqual([
      expect.stringContaining('two providers are called company'),
      expect.stringContaining('two providers have the issuer https://login.example.com'),
    ]);
  });

  it.each([
    ['      issuer: login.example.com\n', 'issuer'],
    ['      client_secret: hunter2\n', 'client_secret'],
    ['      allowed_domains: []\n', 'allowed_domains'],
    ['      allowed_domains: [Example.COM]\n', 'allowed_domains'],
    ['      session: 5m\n', 'session'],
    ['      email_is_verified: false\n', 'email_is_verified'],
    ['      roles: [{ group: a, workspace: shop }]\n', 'roles'],
    ['      roles: [{ group: a, deployment_owner: true, role: editor, workspace: shop }]\n', 'roles'],
    ['      roles: [{ group: a, workspace: shop, role: king }]\n', 'role'],
  ])('refuses %j and names the key', (line, key) => {
    const text = line.includes('issuer') ? provider().replace(/ +issuer.*\n/, line) : provider(line);
    expect(faultsOf(PORTAL + text)[0]).toMatch(new RegExp(`^carillon.yaml:[0-9:]+ {2}sign_in.providers[^ ]*${key}`));
  });

  it('warns if nobody could sign in, or if traffic could be intercepted', () => {
    expect(warningsOf('sign_in: { passwords: false }\n')).toEqual([expect.stringContaining('only owner links')]);
    expect(warningsOf(PORTAL + provider())).toEqual([expect.stringContaining('admits no new people')]);
    const http = provider(DOMAINS).replace('https://login', 'http://login');
    expect(warningsOf(PORTAL + http)).toEqual([expect.stringContaining('over http')]);
    const roles = provider(`      roles: [{ group: a, workspace: nowhere, role: viewer }]\n`);
    expect(warningsOf(PORTAL + roles)).toEqual([expect.stringContaining('no workspace nowhere')]);
  });
});
