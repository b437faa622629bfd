import { formatInstant } from '@carillon/kernel';
import { givenTrigger } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryChecks } from '../src/delivery-checks.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

describe('the doctor', () => {
  const failed = async () =>
    (
      await deliveryChecks({
        ...topology.ports,
        keyUses: topology.data.keyUses,
        sources: topology.data.sources,
        deadLettersKept: () => null,
      })
    ).filter(({ ok }) => !ok);

  it('says which partner is suspended, since when, and how many questions wait', async () => {
    const { tasks, clock } = topology.ports;
    const at = clock.now();
    const call = { at, callId: 'req_1', outcome: 'unauthorized', status: 401, detail: '401', took: 1, sharedBy: 1 };
    const task = (id: string, evidence: readonly object[]) => ({
      id,
      queue: { job: 'ask', workspace: 'shop', name: 'crm' } as const,
      nextAt: at + 60_000,
      deadline: null,
      version: 1,
      leaseUntil: null,
      done: false,
      data: JSON.stringify({ trigger: null, calls: evidence.length, evidence }),
    });
    await tasks.insert([task('trg_1', [call]), task('trg_2', [])]);
    expect(await failed()).toMatchObject([
      {
        step: 'partner crm',
        detail: `suspended since ${formatInstant(at)} (it refuses our key), 2 events wait, next attempt ${formatInstant(at + 60_000)}: npx carillon integration check crm --workspace shop`,
      },
    ]);
  });

  it('says which partner does not answer, since when, how many events wait, and when it is called again', async () => {
    const { tasks, clock } = topology.ports;
    const now = clock.now();
    const MINUTE = 60_000;
    const trigger = givenTrigger({ causedAt: now - 60 * MINUTE, notAfter: now + 60 * MINUTE });
    const failed503 = (minutesAgo: number) => ({
      at: now - minutesAgo * MINUTE,
      callId: 'req_1',
      outcome: 'unavailable',
      status: 503,
      detail: 'answered 503',
      took: 1,
      sharedBy: 1,
    });
    const task = (id: string, calls: number, evidence: readonly object[], of = trigger) => ({
      id,
      queue: { job: 'ask', workspace: 'shop', name: 'crm' } as const,
      nextAt: now + 5 * MINUTE,
      deadline: of.notAfter,
      version: 1,
      leaseUntil: null,
      done: false,
      data: JSON.stringify({ trigger: of, calls, evidence }),
    });
    await tasks.insert([task('trg_0', 0, [])]);
    expect(await failed()).toEqual([]);
    const other = { ...trigger, eventId: 'evt_2' as never };
    await tasks.insert([task('trg_1', 2, [failed503(7), failed503(6)]), task('trg_2', 1, [failed503(5)], other)]);
    const rest = (since: number) => ({
      step: 'partner crm',
      ok: false,
      detail:
        `has not answered since ${formatInstant(since)} (answered 503), 2 events wait, next attempt ` +
        `${formatInstant(now + 5 * MINUTE)}: npx carillon integration waiting crm --workspace shop`,
    });
    expect(await failed()).toEqual([rest(now - 7 * MINUTE)]);
    // Of a long outage only the newest calls are kept.
    await tasks.insert([task('trg_3', 20, [failed503(3)])]);
    expect(await failed()).toEqual([rest(now - 60 * MINUTE)]);
  });
});
