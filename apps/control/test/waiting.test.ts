import { formatInstant } from '@carillon/kernel';
import { givenTrigger, integration, workspaceOf } from '@carillon/testing/given';
import { createDirectWire, createMemoryTasks } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { waitingPartners } from '../src/waiting-partners.ts';
import { accessOf, openControl, personWith, publishWishes, type Fixture } from './control-fixture.ts';

const MINUTE = 60_000;
const lookup = { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } } as const;
let fixture: Fixture;
let tasks = createMemoryTasks().connect(createDirectWire());
async function open(who = deploymentOwner('session')): Promise<void> {
  tasks = createMemoryTasks().connect(createDirectWire());
  fixture = await openControl(accessOf(who), { tasks });
  await publishWishes(
    fixture,
    ['shop', 'acme'].flatMap((name) => [workspaceOf({}, name), integration('crm', lookup, name)]),
  );
}
beforeEach(() => open());
afterEach(() => fixture.control.app.close());

async function list(path: string) {
  const answer = await fixture.control.app.inject({ method: 'GET', url: `/v1/workspaces/${path}` });
  return { status: answer.statusCode, items: answer.json<{ items: object[] }>().items };
}

const put = (workspace: string, id: string, failures: number) => {
  const now = fixture.clock.now();
  const trigger = givenTrigger({
    workspace,
    eventId: `evt_${id}` as never,
    rule: 'cart.abandoned',
    userIds: ['7', '8'],
    causedAt: now - 9 * MINUTE,
    notAfter: now + 60 * MINUTE,
  });
  const evidence = Array.from({ length: failures }, (_, call) => ({
    at: now - (8 - call) * MINUTE,
    callId: 'req_1',
    outcome: 'unavailable',
    status: 503,
    detail: 'answered 503',
    took: 1,
    sharedBy: 1,
  }));
  return tasks.insert([
    {
      id: `trg_${id}`,
      queue: { job: 'ask', workspace, name: 'crm' },
      nextAt: now + 2 * MINUTE,
      deadline: trigger.notAfter,
      version: 1,
      leaseUntil: now + MINUTE,
      done: false,
      data: JSON.stringify({ trigger, calls: failures, evidence }),
    },
  ]);
};

describe('the partners that events wait for', () => {
  it('are listed with since when they fail, how many events wait, and the next attempt', async () => {
    await put('shop', '1', 3);
    await put('shop', '2', 0);
    const now = fixture.clock.now();
    expect((await list('shop/waiting')).items).toEqual([
      {
        workspace: 'shop',
        integration: 'crm',
        events: 2,
        complete: true,
        failing_since: formatInstant(now - 8 * MINUTE),
        last_failure: {
          at: formatInstant(now - 6 * MINUTE),
          outcome: 'unavailable',
          status: 503,
          detail: 'answered 503',
        },
        next_attempt_at: formatInstant(now + 2 * MINUTE),
      },
    ]);
    expect((await list('acme/waiting')).items).toEqual([]);
  });

  it('are listed for all visible workspaces', async () => {
    await open(personWith('ann', ['read'], 'acme'));
    await put('shop', '1', 1);
    await put('acme', '2', 0);
    expect((await list('-/waiting')).items).toMatchObject([
      { workspace: 'acme', events: 1, failing_since: null, last_failure: null },
    ]);
  });
});

describe('the events that wait for a partner', () => {
  it('are listed with rule, calls, the next attempt and the time at which they are given up', async () => {
    await put('shop', '1', 3);
    const now = fixture.clock.now();
    expect((await list('shop/integrations/crm/waiting')).items).toMatchObject([
      {
        trigger_id: 'trg_1',
        event_id: 'evt_1',
        rule: 'cart.abandoned',
        user_ids: 2,
        since: formatInstant(now - 9 * MINUTE),
        calls: 3,
        last_call: { status: 503 },
        next_attempt_at: formatInstant(now + 2 * MINUTE),
        gives_up_at: formatInstant(now + 60 * MINUTE),
      },
    ]);
    expect((await list('shop/integrations/crn/waiting')).status).toBe(404);
  });
});

describe('reading the waiting events', () => {
  it('yields after each event, because each may hold the user ids of many people', async () => {
    await put('shop', 'a', 1);
    await put('shop', 'b', 1);
    await put('acme', 'c', 1);
    let turns = 0;
    const yieldSlice = async (): Promise<void> => void (turns += 1);
    const ports = { tasks, clock: fixture.clock, slice: { isExpired: () => true, yield: yieldSlice } };
    expect(await waitingPartners(() => true, ports)).toHaveLength(2);
    expect(turns).toBe(3);
  });
});
