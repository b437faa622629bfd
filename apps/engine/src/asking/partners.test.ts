import { configurationOf, integration } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { createPartners, type Partners } from './partners.ts';

const NOW = 1_767_225_600_000;
const CALLS = 20;
const body = {
  kind: 'lookup',
  url: 'https://crm.example.com/people',
  authorization: { key: { secret: 'KEY' } },
} as const;

const SHOP = { workspace: 'shop', integration: 'crm' };
/** An integration of another workspace with the same host. */
const BANK = { workspace: 'bank', integration: 'crm' };
const configuration = configurationOf([SHOP, BANK].map(({ workspace }) => integration('crm', body, workspace)));

const partners = (): Partners =>
  createPartners({
    configuration: { current: () => configuration },
    secrets: { resolve: async () => 'key' },
    clock: { now: () => NOW },
    alert: () => undefined,
    changed: () => undefined,
  });

describe('the breaker of a partner', () => {
  it('opens for the workspace whose calls fail, and for no other workspace on that host', () => {
    const all = partners();
    for (let call = 0; call < CALLS; call += 1) {
      all.ended(SHOP, { kind: 'unavailable', status: 500, detail: 'away' }, { tried: ['KEY'], sharedBy: 1 });
    }
    expect(all.mayCallAt(SHOP, NOW)).toBeGreaterThan(NOW);
    expect(all.mayCallAt(BANK, NOW)).toBeLessThanOrEqual(NOW);
  });

  it('pauses the workspace that was told to retry later, and no other workspace on that host', () => {
    const all = partners();
    const throttled = { kind: 'throttled', status: 429, retryAfter: 5_000, detail: 'slow down' } as const;
    all.ended(SHOP, throttled, { tried: ['KEY'], sharedBy: 1 });
    expect(all.mayCallAt(SHOP, NOW)).toBe(NOW + 5_000);
    expect(all.mayCallAt(BANK, NOW)).toBeLessThanOrEqual(NOW);
  });
});
