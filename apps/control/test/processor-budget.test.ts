import { isCarillonError } from '@carillon/kernel';
import type { EventLog, TemplateRenderer } from '@carillon/ports';
import { settableClock } from '@carillon/testing/given';
import fastify, { type FastifyInstance } from 'fastify';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProcessorBudget, PROCESSOR_BUDGETS, type ProcessorBudget } from '../src/access/processor-budget.ts';
import { deploymentOwner, preparePrincipals, rememberPrincipal, type Principal } from '../src/access/principal.ts';
import { accessOf, openControl, personWith, TOKEN } from './control-fixture.ts';

const PERSON = PROCESSOR_BUDGETS.principal;
const WORKSPACE = PROCESSOR_BUDGETS.workspace;
const WORK = '/v1/workspaces/shop/work';

describe('the budget of processor time', () => {
  const clock = settableClock();
  let spentMs: number;
  const stopwatches = { threadMs: () => spentMs, wallMs: () => spentMs };
  let who: Pick<Principal, 'actor'>;
  let budget: ProcessorBudget;
  let app: FastifyInstance;
  /** What the next request does. */
  let work: () => Promise<void>;
  const spend = (ms: number) => async (): Promise<void> => void (spentMs += ms);

  beforeEach(async () => {
    spentMs = 0;
    who = personWith('per_ann', []);
    work = spend(1_000);
    budget = createProcessorBudget(clock, stopwatches);
    app = fastify();
    app.setErrorHandler((error, _request, reply) =>
      reply.code(isCarillonError(error) && error.code === 'rate_limited' ? 429 : 500).send(),
    );
    preparePrincipals(app);
    app.addHook('onRequest', async (request) => {
      rememberPrincipal(request, who as Principal);
      budget.demand(who, request);
    });
    budget.chargeRequests(app);
    app.get('/v1/workspaces/:workspace/work', async () => {
      await work();
      return 'done';
    });
  });
  afterEach(() => app.close());

  const ask = async (url = WORK): Promise<number> => (await app.inject({ url })).statusCode;
  const statuses = async (times: number): Promise<readonly number[]> => {
    const all: number[] = [];
    for (let at = 0; at < times; at += 1) all.push(await ask());
    return all;
  };
  const AFFORDED = PERSON.savedMs / 1_000;
  const refusedLast = [...Array.from({ length: AFFORDED }, () => 200), 429];

  it('refuses a person who used it up, and serves others', async () => {
    expect(await statuses(AFFORDED + 1)).toEqual(refusedLast);
    who = personWith('per_bob', []);
    expect(await ask()).toBe(200);
  });

  it('serves the person again when enough time has passed', async () => {
    await statuses(AFFORDED);
    expect(await ask()).toBe(429);
    clock.pass(1_000);
    expect(await ask()).toBe(200);
  });

  it('refuses everybody in a workspace that used it up, and serves the same people in other workspaces', async () => {
    for (const name of ['per_ann', 'per_bob']) {
      who = personWith(name, []);
      await statuses(WORKSPACE.savedMs / 2_000);
    }
    who = personWith('per_eve', []);
    expect(await ask()).toBe(429);
    expect(await ask('/v1/workspaces/club/work')).toBe(200);
  });

  it('never charges the machine’s own token', async () => {
    who = deploymentOwner('owner_token');
    expect(await statuses(AFFORDED + 5)).toEqual(Array.from({ length: AFFORDED + 5 }, () => 200));
  });

  it('does not charge a request for time in which it waited', async () => {
    work = async () => {
      await nextRound();
      spentMs += 1_000;
      await nextRound();
    };
    expect(new Set(await statuses(AFFORDED + 5))).toEqual(new Set([200]));
  });

  it('charges long work at each yield', async () => {
    const turns = budget.metered({ isExpired: () => true, yield: () => nextRound() });
    work = async () => {
      for (let part = 0; part < 10; part += 1) {
        spentMs += 100;
        if (turns.isExpired()) await turns.yield();
      }
    };
    expect(await statuses(AFFORDED + 1)).toEqual(refusedLast);
  });

  it('charges at most 250 ms for a rendering, because it may have waited for others', async () => {
    const render = async () => {
      await nextRound();
      spentMs += 60_000;
      return { ok: true, parts: {}, missing: [] };
    };
    const templates = budget.meteredTemplates({ render } as unknown as TemplateRenderer);
    work = async () => void (await templates.render(...([] as unknown as Parameters<TemplateRenderer['render']>)));
    expect(await statuses(PERSON.savedMs / 250 + 1)).toEqual([
      ...Array.from({ length: PERSON.savedMs / 250 }, () => 200),
      429,
    ]);
  });
});

describe('the management API', () => {
  it('says when to come again to a person who used up their processor time, and never refuses the machine’s token', async () => {
    let spentMs = 0;
    const stopwatches = { threadMs: () => spentMs, wallMs: () => spentMs };
    const bounds: EventLog['bounds'] = async () => {
      spentMs += 1_000;
      return { start: 0, end: 0 };
    };
    const ports = { log: { bounds, read: async () => [] } as unknown as EventLog };
    const url = '/v1/audit';
    const person = accessOf(personWith('per_ann', ['audit']));
    const open = await openControl(person, ports, {}, { stopwatches });
    for (let at = 0; at < PERSON.savedMs / 1_000; at += 1) {
      expect((await open.control.app.inject({ url })).statusCode).toBe(200);
    }
    const refused = await open.control.app.inject({ url });
    expect(refused.json()).toMatchObject({
      code: 'rate_limited',
      limit: expect.stringContaining('processor time') as string,
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    await open.control.app.close();

    const machine = await openControl(undefined, ports, {}, { stopwatches });
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (let at = 0; at < 20; at += 1) {
      expect((await machine.control.app.inject({ url, headers })).statusCode).toBe(200);
    }
    await machine.control.app.close();
  });
});
