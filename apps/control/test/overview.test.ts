import type { WorkspaceHealthBody } from '@carillon/contracts';
import { providerResult } from '@carillon/domain/deliveries';
import { deliveryOf, storedSourceOf, type DeliveryFacts } from '@carillon/testing';
import { workspaceOf } from '@carillon/testing/given';
import { createDirectWire, createMemoryLedger, createMemoryStores, createMemoryTasks } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../src/access/principal.ts';
import { deploymentOwner } from '../src/access/principal.ts';
import { accessOf, openControl, personWith, publishWishes, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
async function open(who: Principal): Promise<void> {
  const ledger = createMemoryLedger().connect(createDirectWire());
  const tasks = createMemoryTasks().connect(createDirectWire());
  const readModels = {
    deadLetters: async ({ workspace }: { readonly workspace?: string }) => ({
      items: workspace === 'shop' ? [{}, {}] : [],
      next: null,
    }),
  } as never;
  const { sources } = createMemoryStores().connect();
  const waits = { kind: 'waiting', reason: 'standby', detail: null, fix: null } as const;
  await sources.advance(storedSourceOf({ state: { ...waits, kind: 'stopped', reason: 'slot_lost' } }), []);
  await sources.advance(storedSourceOf({ integration: 'books', state: waits }), []);
  await sources.advance(storedSourceOf({ integration: 'old', state: { ...waits, kind: 'leaving' } }), []);
  await sources.advance(storedSourceOf({ workspace: 'acme' }), []);
  fixture = await openControl(accessOf(who), { ledger, tasks, readModels, sources });
  await publishWishes(fixture, [workspaceOf({}, 'shop'), workspaceOf({}, 'acme')]);
  const now = fixture.clock.now();
  const put = (facts: DeliveryFacts) => ledger.insert([deliveryOf({ createdAt: now - 1_000, ...facts })]);
  const refused = {
    id: 'att_1' as never,
    token: 't',
    account: 'default',
    to: null,
    startedAt: now - 900,
    endedAt: now - 800,
    result: providerResult('refused_recipient', '550', 'no such user'),
  };
  await put({ state: 'IN_DOUBT', nextAt: null });
  await put({ state: 'FAILED', nextAt: null, attempts: [refused] });
  for (let count = 0; count < 3; count += 1) await put({});
  await put({ slot: { workspace: 'acme' } });
  await tasks.insert([
    {
      id: 'trg_1',
      queue: { job: 'ask', workspace: 'acme', name: 'crm' },
      nextAt: now + 60_000,
      deadline: null,
      version: 1,
      leaseUntil: null,
      done: false,
      data: JSON.stringify({ trigger: null, calls: 0, evidence: [] }),
    },
  ]);
}
beforeEach(() => open(deploymentOwner('session')));
afterEach(() => fixture.control.app.close());

async function rows() {
  const answer = await fixture.control.app.inject({ method: 'GET', url: '/v1/overview' });
  return answer.json<{ items: readonly WorkspaceHealthBody[] }>().items;
}

const ACME = {
  workspace: 'acme',
  in_doubt: 0,
  dead_letters: 0,
  refused: 0,
  waiting: 1,
  sources_waiting: 0,
  sources_stopped: 0,
  waiting_for_partners: 1,
};
const SHOP = {
  workspace: 'shop',
  in_doubt: 1,
  dead_letters: 2,
  refused: 1,
  waiting: 3,
  sources_waiting: 2,
  sources_stopped: 1,
  waiting_for_partners: 0,
};

describe('the overview of all workspaces', () => {
  it('counts in each what is in doubt, dead, refused, waiting and not read', async () => {
    expect(await rows()).toEqual([ACME, SHOP]);
  });

  it('has no row of a workspace that somebody may not see', async () => {
    await fixture.control.app.close();
    await open(personWith('ann', ['read'], 'acme'));
    expect(await rows()).toEqual([ACME]);
  });
});
