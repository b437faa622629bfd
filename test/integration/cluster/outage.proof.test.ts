import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppliedBody, CheckBody, DeliveryBody } from '@carillon/contracts';
import { messageOf } from '@carillon/kernel';
import type { ReadinessCheck } from '@carillon/runtime';
import { cli, untilFound } from '@carillon/testing';
import {
  startCluster,
  startClusterServices,
  type Cluster,
  type ClusterServices,
  type Member,
} from '@carillon/testing/cluster';
import type { Service } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { request, scratch, shopFiles } from '../product/shop.ts';
import { startPosting, type Answer, type Posting } from './posting.ts';
import { startFlood } from '../product/flood.ts';

const TIMEOUT = 600_000;
const OUTAGE = 30_000;
/** The gateway tries for 5 s to append, and for 1 s to read the configuration; the rest is for a machine that is busy. */
const ANSWERED_WITHIN = 60_000;
const ROLES = ['gateway', 'engine', 'delivery', 'control'] as const;
const FLOOD = 20_000;
/** Longer than a lease and its sweep, a session of a consumer and any pause before a repetition: what has not moved since is stuck. */
const STANDS_STILL = 60_000;
const LAST_WORDS = 4_000;
const READINESS_WITHIN = 10_000;
const DOUBT = 'IN_DOUBT (answer_unknown)';
/** As many as a sandbox account sends at a time. */
const SANDBOX_CALLS = 16;
const MEBIBYTE = 1024 * 1024;
/** What a process may hold, all of Node and our code included (150 to 200 MiB). */
const MAX_MEMORY = 600 * MEBIBYTE;

const memoryOf = (pid: number): number => {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
};

describeWith(['kafka', 'mongodb', 'registry'], 'A cluster of which a part is away while events are posted', () => {
  let services: ClusterServices;
  let cluster: Cluster;
  let remove: () => Promise<void>;
  let key = '';
  const pids = (): readonly number[] => cluster.members.map(({ pid }) => pid);
  let begun: readonly number[] = [];

  const api = <T>(method: string, path: string, body?: unknown) =>
    request<T>(`${cluster.controlUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${cluster.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  beforeAll(async () => {
    const place = await scratch();
    ({ remove } = place);
    services = await startClusterServices();
    cluster = await startCluster({ services, dataDir: join(place.folder, 'data') });
    const made = await api<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
    ({ key } = made.body);
    const applied = await api<AppliedBody>('POST', '/v1/configuration/apply', { files: shopFiles(), prune: false });
    expect(applied.body.faults).toEqual([]);
    begun = pids();
  }, TIMEOUT);
  afterAll(async () => {
    await cluster?.stop();
    await services?.stop();
    await remove?.();
  }, TIMEOUT);

  /** Which checks of `/readyz` were not ok at one time, per role, asked again and again until `over` resolves. */
  async function watchReadiness(over: Promise<unknown>): Promise<Readonly<Record<string, ReadonlySet<string>>>> {
    const away: Record<string, Set<string>> = {};
    let isOver = false;
    void over.finally(() => (isOver = true));
    while (!isOver) {
      for (const { role, health } of cluster.members) {
        const { status, body } = await request<{ checks: ReadinessCheck[] }>(`${health}/readyz`, {});
        const failing = body.checks.filter(({ ok }) => !ok);
        expect(status).toBe(failing.every(({ decides }) => decides === false) ? 200 : 503);
        const names = failing.map(({ name, decides }) => (decides === false ? `${name} (does not decide)` : name));
        (away[role] ??= new Set()).add(names.toSorted().join(', '));
      }
      await pause(500);
    }
    return away;
  }

  /** Everything that a list holds, page by page. */
  async function* all<Item>(path: string): AsyncGenerator<Item> {
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await api<{ items: Item[]; next: string | null }>('GET', `${path}?limit=500${page}`);
      yield* body.items;
      cursor = body.next;
    }
  }

  /** The deliveries of these events, by state; `none` where there is none. */
  async function statesOf(events: ReadonlySet<string>): Promise<Readonly<Record<string, number>>> {
    const states = new Map([...events].map((event) => [event, 'none']));
    for await (const { event_id: event, state, reason } of all<DeliveryBody>('/v1/workspaces/shop/deliveries')) {
      if (event !== null && states.has(event)) states.set(event, state === 'SENT' ? state : `${state} (${reason})`);
    }
    const counts: Record<string, number> = {};
    for (const state of states.values()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }

  const lastWordsOf = (member: Member): string => member.log().slice(-LAST_WORDS);
  const doctorSays = async (): Promise<string> => (await cli(['doctor'], { dataDir: cluster.dataDir })).stdout;

  /** What tells why something stands still: nobody can ask any more when the test is over. */
  const lastWords = async (): Promise<string> =>
    [await doctorSays(), ...cluster.members.map((member) => `--- ${member.name}\n${lastWordsOf(member)}`)].join('\n');

  /** Every event that was taken has its delivery, sent once; of at most so many nobody can know whether they were. */
  async function allDelivered(accepted: ReadonlySet<string>, mostDoubts: number): Promise<void> {
    let states: Readonly<Record<string, number>> = {};
    const settled = (): number => (states['SENT'] ?? 0) + (states[DOUBT] ?? 0);
    let last = '';
    let movedAt = Date.now();
    while (settled() !== accepted.size && Date.now() - movedAt < STANDS_STILL) {
      await pause(1_000);
      states = await statesOf(accepted);
      const now = JSON.stringify(states);
      if (now !== last) movedAt = Date.now();
      last = now;
    }
    const said = settled() === accepted.size ? '' : await lastWords();
    expect({ ...states, settled: settled() }, said).toMatchObject({ settled: accepted.size });
    expect(states[DOUBT] ?? 0).toBeLessThanOrEqual(mostDoubts);
    const told = new Set<string>();
    const toldTwice: string[] = [];
    let messages = 0;
    for await (const { delivery_id: delivery } of all<{ delivery_id: string }>('/v1/inbox')) {
      messages += 1;
      if (told.has(delivery)) toldTwice.push(delivery);
      told.add(delivery);
    }
    expect(toldTwice).toEqual([]);
    // A list that ends early would show no second message.
    expect(messages).toBeGreaterThanOrEqual(states['SENT'] ?? 0);
  }

  /** What a role says of itself; where it says nothing, why not. */
  const readinessOf = async ({ address }: Member): Promise<{ readonly ok: boolean; readonly said: string }> => {
    try {
      const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(READINESS_WITHIN) });
      return { ok: answer.ok, said: await answer.text() };
    } catch (error) {
      return { ok: false, said: messageOf(error) };
    }
  };

  /** On failure tells what each role said last, how often each was not ready, and the last words of those that are not. */
  async function allReady(): Promise<void> {
    let story = '';
    let looks = 0;
    const unready: Record<string, number> = {};
    const look = async (): Promise<true | undefined> => {
      const roles = await Promise.all(
        cluster.members.map(async (member) => ({ member, ...(await readinessOf(member)) })),
      );
      if (roles.every(({ ok }) => ok)) return true;
      looks += 1;
      for (const { ok, member } of roles) if (!ok) unready[member.name] = (unready[member.name] ?? 0) + 1;
      const lines = roles.map(({ member: { name }, said }) => `${new Date().toISOString()} ${name}: ${said}`);
      const words = roles.filter(({ ok }) => !ok).map(({ member }) => `--- ${member.name}\n${lastWordsOf(member)}`);
      story = [...lines, ...words].join('\n');
      await pause(250);
      return undefined;
    };
    try {
      // A database that catches up may take its time for each answer, and so for those that readiness stands on.
      await untilFound('every role is ready again', look, 120_000);
    } catch (error) {
      const often = `of ${looks} looks not ready at: ${JSON.stringify(unready)}`;
      throw new Error([messageOf(error), often, story, await doctorSays()].join('\n'), { cause: error });
    }
  }

  function boundedAnswers(answers: readonly Answer[]): void {
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([202, 503]))).toEqual(new Set());
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.every(({ retryAfter }) => /^\d+$/.test(retryAfter ?? ''))).toBe(true);
    expect(Math.max(...answers.map(({ took }) => took))).toBeLessThan(ANSWERED_WITHIN);
  }

  /** Asks the doctor until it says that these steps fail, and that one does not: a busy machine may hide an answer from it. */
  const diagnosed = (fails: readonly string[], holds: string): Promise<true> =>
    untilFound(`the doctor says that ${fails.join(' and ')} fail, and ${holds} does not`, async () => {
      const doctor = await api<CheckBody>('POST', '/v1/doctor');
      expect(doctor, JSON.stringify(doctor)).toMatchObject({ status: 200 });
      const failing = doctor.body.steps.filter(({ ok }) => !ok).map(({ step }) => step);
      return (fails.every((step) => failing.includes(step)) && !failing.includes(holds)) || undefined;
    });

  /** Kills a part while events are posted, starts it again after its time, and answers what was seen meanwhile. */
  async function outageOf(
    name: string,
    part: Pick<Service, 'kill' | 'restart'>,
    {
      clients: number,
      fails,
      holds,
    }: { readonly clients: number; readonly fails: readonly string[]; readonly holds: string },
  ) {
    const clients = startPosting({ gatewayUrl: cluster.gatewayUrl, key }, { name, clients: number, every: 100 });
    await untilFound('events are taken', () => clients.accepted.size > 20 || undefined, 60_000);
    await part.kill();
    const from = Date.now();
    const away = await watchReadiness(pause(OUTAGE));
    const during = clients.answers.filter(({ at, took }) => at - took > from);
    const memory = Math.max(...pids().map(memoryOf));
    const metrics = await Promise.all(cluster.members.map(({ health }) => fetch(`${health}/metrics`)));
    await diagnosed(fails, holds);
    await part.restart();
    return { clients, away, during, memory, metrics: metrics.map(({ status }) => status) };
  }

  /** Whatever was away is back: all that was taken is delivered, by the processes that were there before. */
  async function recovers(clients: Posting, mostDoubts = 0): Promise<void> {
    boundedAnswers(clients.answers);
    await clients.finish();
    await allReady();
    await allDelivered(clients.accepted, mostDoubts);
    expect(pids()).toEqual(begun);
  }

  it(
    'answers 503 with Retry-After while the broker is down for 30 s, and delivers all accepted events without a restart',
    async () => {
      const seen = { clients: 10, fails: ['configuration', 'Kafka'], holds: 'database' };
      const { clients, away, during, memory, metrics } = await outageOf('broker', services.kafka, seen);
      expect(during.length).toBeGreaterThan(10);
      expect(new Set(during.map(({ status }) => status))).toEqual(new Set([503]));
      for (const role of ROLES) expect([...(away[role] ?? [])].join('; '), role).toContain('Kafka');
      expect(memory).toBeLessThan(MAX_MEMORY);
      expect(metrics).toEqual([200, 200, 200, 200]);
      await recovers(clients);
    },
    TIMEOUT,
  );

  it(
    'accepts events while the database is down for 30 s, and delivers them afterwards',
    async () => {
      // What is taken meanwhile has to be delivered after: of more of it nothing else is seen.
      const seen = { clients: 4, fails: ['database'], holds: 'Kafka' };
      const { clients, away, during, memory, metrics } = await outageOf('database', services.mongodb, seen);
      expect(during.filter(({ status }) => status === 202).length).toBeGreaterThan(40);
      const { gateway, ...others } = away;
      const ofGateway = [...(gateway ?? [])].join('; ');
      expect(ofGateway).toContain('database (does not decide)');
      expect(ofGateway).not.toMatch(/database(?! \()/);
      for (const role of ROLES.slice(1)) {
        // A busy machine may hide an answer of the broker once.
        const found = [...(others[role] ?? [])].filter((names) => names.includes('database'));
        expect(
          found.some((names) => !names.includes('Kafka')),
          `${role}: ${found.join('; ')}`,
        ).toBe(true);
      }
      expect(memory).toBeLessThan(MAX_MEMORY);
      // Numbers are wanted most when something is wrong.
      expect(metrics).toEqual([200, 200, 200, 200]);
      // The sandbox keeps what it is given in the same database: a call of which no answer came back is in doubt.
      await recovers(clients, SANDBOX_CALLS);
    },
    TIMEOUT,
  );

  it(
    'bounds its memory under triple load, and refuses the excess',
    async () => {
      const target = { gatewayUrl: cluster.gatewayUrl, key };
      const measured = startPosting(target, { name: 'measured', clients: 40, every: 0 });
      await pause(5_000);
      await measured.finish();
      const flood = startFlood({
        url: `${cluster.gatewayUrl}/events/shop/orders`,
        key,
        name: 'flood',
        event: { status: 'open', total: 1, note: 'x'.repeat(100_000) },
        connections: 900,
        pace: { perSecond: (measured.accepted.size / 5) * 3 },
      });
      await flood.begun;
      const peaks = pids().map(() => 0);
      for (const until = Date.now() + FLOOD; Date.now() < until; await pause(100)) {
        for (const [at, pid] of pids().entries()) peaks[at] = Math.max(peaks[at] ?? 0, memoryOf(pid));
      }
      const { answers } = await flood.finish();
      expect(answers['202']).toBeGreaterThan(100);
      // Large bodies of a starved machine may also come too late, or to a connection that is answered already.
      const known = new Set(['202', '429', '503', '408', 'ECONNRESET', 'EPIPE']);
      expect(new Set(Object.keys(answers)).difference(known)).toEqual(new Set());
      expect(Math.max(...peaks)).toBeLessThan(MAX_MEMORY);
      await allReady();
      expect(pids()).toEqual(begun);
    },
    TIMEOUT,
  );
});
