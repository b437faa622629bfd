import type { LookupIntegration } from '@carillon/domain/configuration';
import type { Partner } from '@carillon/domain/lookups';
import type { PartnerAnswer } from '@carillon/ports';
import { configurationOf, integration } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { createPartners } from '../src/asking/partners.ts';

const NOW = 1_000_000;
const CRM = 'https://crm.example.com/recipients';

const lookup = (url: string): LookupIntegration => ({
  kind: 'lookup',
  url,
  authorization: { key: { secret: 'CRM_KEY' } },
});
const of = (workspace: string, name = 'crm'): Partner => ({ workspace, integration: name });

function openPartners() {
  const configuration = configurationOf([
    integration('crm', lookup(CRM), 'shop'),
    integration('people', lookup(`${CRM}/people`), 'shop'),
    integration('other', lookup('https://other.example.com/recipients'), 'shop'),
    integration('crm', lookup(CRM), 'club'),
  ]);
  return createPartners({
    configuration: { current: () => configuration },
    secrets: { resolve: async () => 'key' },
    clock: { now: () => NOW },
    alert: () => undefined,
    changed: () => undefined,
  });
}
type Partners = ReturnType<typeof openPartners>;

/** Ends calls of a partner with the same answer, more than its breaker takes. */
function endCalls(partners: Partners, partner: Partner, answer: PartnerAnswer): void {
  for (let call = 0; call < 100; call += 1) {
    partners.begin(partner);
    partners.ended(partner, answer, { tried: ['CRM_KEY'], sharedBy: 1 });
  }
}
const isCalled = (partners: Partners, partner: Partner): boolean => (partners.mayCallAt(partner, NOW) ?? NOW) <= NOW;

describe('the breaker of a partner', () => {
  it('opens for the host within the workspace, and not for the same host in another workspace', () => {
    const partners = openPartners();
    endCalls(partners, of('shop'), { kind: 'unavailable', status: null, detail: 'connection refused' });
    expect(isCalled(partners, of('shop'))).toBe(false);
    expect(isCalled(partners, of('shop', 'people'))).toBe(false);
    expect(isCalled(partners, of('shop', 'other'))).toBe(true);
    expect(isCalled(partners, of('club'))).toBe(true);
  });

  it('pauses for Retry-After within the workspace alone', () => {
    const partners = openPartners();
    const answer = { kind: 'throttled', status: 429, retryAfter: 60_000, detail: '429' } as const;
    partners.ended(of('shop'), answer, { tried: ['CRM_KEY'], sharedBy: 1 });
    expect(partners.mayCallAt(of('shop'), NOW)).toBe(NOW + 60_000);
    expect(isCalled(partners, of('club'))).toBe(true);
  });

  it('is suspended for the integration whose key was refused, and for no other of the host', () => {
    const partners = openPartners();
    endCalls(partners, of('shop'), { kind: 'unauthorized', status: 401, detail: '401' });
    expect(isCalled(partners, of('shop'))).toBe(false);
    expect(isCalled(partners, of('shop', 'people'))).toBe(true);
    expect(isCalled(partners, of('club'))).toBe(true);
  });
});
