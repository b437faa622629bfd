import type { PolledIntegration } from '@carillon/domain/configuration';
import type { LeaseStore, LogRecord } from '@carillon/ports';
import { startScriptedPostHog, type ScriptedPostHog } from '@carillon/testing';
import { integration } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngineOn, type WatchedEngine } from './engine-role.ts';

let topology: Topology;
let posthog: ScriptedPostHog;
const engines: WatchedEngine[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 2 });
  posthog = await startScriptedPostHog('ph-key');
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await posthog.stop();
  await topology.close();
});

const settings = (more: Partial<PolledIntegration> = {}): PolledIntegration => ({
  kind: 'posthog',
  url: posthog.url,
  project: '12',
  authorization: { key: { secret: 'PH' } },
  cohorts: ['5'],
  ...more,
});
const REF = { workspace: 'shop', integration: 'ph', cohort: '5' } as const;
async function start(more: Partial<PolledIntegration> = {}): Promise<WatchedEngine> {
  await topology.publish(integration('ph', settings(more)));
  const secrets = { resolve: async (_: string, name: string) => ({ PH: 'ph-key', OLD: 'old-key' })[name] ?? null };
  const engine = await startEngineOn(topology, { secrets });
  engines.push(engine);
  return engine;
}
const told = async (): Promise<string[]> =>
  (await topology.records('carillon.events'))
    .filter(({ headers }) => headers['kind'] === 'event')
    .map(({ value }: LogRecord) => JSON.parse(new TextDecoder().decode(value)) as Record<string, unknown>)
    .map(
      ({ user_id: user, change, first_sync: first }) => `${String(user)} ${String(change)}${first ? ' at first' : ''}`,
    )
    .toSorted();
const until = (lines: readonly string[]) =>
  untilFound(lines.join(', '), async () => ((await told()).length >= lines.length ? told() : undefined));

describe('a polled platform', () => {
  it('is read page by page, and changes since the last poll become events', async () => {
    posthog.holds('5', ['ada', 'bob', 'cleo', 'dora', 'eve']);
    const engine = await start();
    const first = ['ada', 'bob', 'cleo', 'dora', 'eve'].map((user) => `${user} entered at first`);
    expect(await until(first)).toEqual(first);
    expect(posthog.requests.map(({ query }) => query.get('offset'))).toEqual([null, '2', '4']);
    expect(posthog.requests.every(({ authorization }) => authorization === 'Bearer ph-key')).toBe(true);
    posthog.holds('5', ['ada', 'cleo', 'dora', 'fay']);
    topology.clock.pass(3_700_000);
    const all = [...first, 'bob left', 'eve left', 'fay entered'].toSorted();
    expect(await until(all)).toEqual(all);
    // Who left is told before it is kept.
    await untilFound('four are kept', async () => (await topology.data.cohorts.count(REF)) === 4 || undefined);
    expect(engine.troubles).toEqual([]);
  });

  it('that fails halfway removes no member, and is read again from the start', async () => {
    posthog.holds('5', ['ada', 'bob', 'cleo']);
    await start();
    await until(['1', '2', '3']);
    posthog.holds('5', ['ada', 'cleo', 'dora']);
    const page = { next: `${posthog.url}/x?offset=2`, results: [{ distinct_ids: ['ada'] }] };
    posthog.once((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page)),
    );
    posthog.once((response) => response.writeHead(503, { 'retry-after': '60' }).end());
    const before = posthog.requests.length;
    topology.clock.pass(3_700_000);
    await untilFound('the failure', () => engines[0]?.troubles[0]);
    expect(await topology.data.cohorts.count(REF)).toBe(3);
    expect(posthog.requests.length).toBe(before + 2);
    topology.clock.pass(61_000);
    const all = await until(['1', '2', '3', '4', '5']);
    expect(all).toContain('bob left');
    expect(all).toContain('dora entered');
    expect(posthog.requests.slice(before).map(({ query }) => query.get('offset'))).toEqual([null, '2', null, '2']);
  });

  it('is called with the second key if it refuses the first', async () => {
    posthog.holds('5', ['ada']);
    await start({ authorization: { key: { secret: 'OLD' }, second_key: { secret: 'PH' } } });
    expect(await until(['ada'])).toEqual(['ada entered at first']);
  });

  it('whose persons all lack the field is reported to the operator, and no member leaves', async () => {
    posthog.holds('5', ['ada', 'bob', 'cleo']);
    await start();
    await until(['1', '2', '3']);
    await engines.splice(0)[0]?.close();
    topology.clock.pass(3_700_000);
    const engine = await start({ user_id: 'properties.id' });
    expect(await untilFound('the alert', () => engine.alerts[0])).toBe(
      'shop/ph cohort 5: no person has a user id at properties.id: look at user_id of the integration',
    );
    expect(engine.skipped).toEqual(['shop/ph 2', 'shop/ph 1']);
    await untilFound(
      'the pages applied',
      async () => (await topology.data.cohorts.load(REF))?.skipped === 3 || undefined,
    );
    expect(await topology.data.cohorts.count(REF)).toBe(3);
  });

  it.each([
    ['refuses', {}, 'ph cohort 5: PostHog answered 404: there is no such project or cohort'],
    ['has no secret', { authorization: { key: { secret: 'NONE' } } }, 'the secret NONE is neither'],
    ['may not be connected to', { url: 'http://10.0.0.1' }, 'not one that Carillon may connect to'],
  ] as const)('that %s is reported to the operator, and paused for a while', async (_, more, words) => {
    const engine = await start(more);
    expect(await untilFound('the alert', () => engine.alerts[0])).toContain(words);
    expect(engine.alerts).toHaveLength(1);
    topology.clock.pass(61_000);
    await untilFound('the next try', () => engine.alerts[1]);
  });

  it('is polled by one process at a time', async () => {
    posthog.holds('5', ['ada', 'bob', 'cleo']);
    const asked = Promise.withResolvers<ServerResponse>();
    posthog.once((response) => asked.resolve(response));
    await start();
    const held = await asked.promise;
    let refusals = 0;
    const { leases } = topology.ports;
    const counted: LeaseStore = {
      ...leases,
      acquire: async (...given) => {
        const has = await leases.acquire(...given);
        if (!has && given[0].startsWith('poll ')) refusals += 1;
        return has;
      },
    };
    engines.push(await startEngineOn(topology, { leases: counted, secrets: { resolve: async () => 'ph-key' } }));
    await untilFound('the second one finds the lease taken', () => refusals > 0 || undefined);
    expect(posthog.requests).toHaveLength(1);
    held.destroy();
  });
});
