import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppliedBody, DeliveryBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { startCluster, startClusterServices, type Cluster, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { request, scratch, shopFiles } from '../product/shop.ts';
import { startPosting, type Answer, type Posting } from './posting.ts';

const TIMEOUT = 400_000;
const OUTAGE = 30_000;
/** The gateway tries for 5 s to append, and for 1 s to read the configuration; the rest is for a machine that is busy. */
const ANSWERED_WITHIN = 12_000;
const MEBIBYTE = 1024 * 1024;
/** What a process may hold, all of Node and our code included (150 to 200 MiB). */
const MOST_MEMORY = 600 * MEBIBYTE;

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

  /** Which checks of `/readyz` were not ok, per role, asked again and again until `over` resolves. */
  async function watchReadiness(over: Promise<unknown>): Promise<Readonly<Record<string, ReadonlySet<string>>>> {
    const away: Record<string, Set<string>> = {};
    let isOver = false;
    void over.finally(() => (isOver = true));
    while (!isOver) {
      for (const { role, address } of cluster.members) {
        const { status, body } = await request<{ checks: { name: string; ok: boolean }[] }>(`${address}/readyz`, {});
        const failing = body.checks.filter(({ ok }) => !ok);
        expect(status).toBe(failing.length === 0 ? 200 : 503);
        for (const { name } of failing) (away[role] ??= new Set()).add(name);
      }
      await pause(500);
    }
    return away;
  }

  const posting = (name: string): Posting =>
    startPosting({ gatewayUrl: cluster.gatewayUrl, key }, { name, clients: 10, every: 100 });
  const duringOf = (answers: readonly Answer[], from: number, to: number): readonly Answer[] =>
    answers.filter(({ at, took }) => at - took > from && at < to);

  /** Every event that was taken has its delivery, sent once, and nothing waits any more. */
  async function allDelivered(accepted: ReadonlySet<string>): Promise<void> {
    await untilFound(
      `all of ${accepted.size} are sent`,
      async () => {
        const left = new Set(accepted);
        let cursor = '';
        do {
          const { body } = await api<{ items: DeliveryBody[]; next: string | null }>(
            'GET',
            `/v1/workspaces/shop/deliveries?limit=500&state=SENT${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          );
          for (const { event_id: event } of body.items) left.delete(event);
          cursor = body.next ?? '';
        } while (cursor !== '');
        if (left.size === 0) return true;
        await pause(500);
        return undefined;
      },
      120_000,
    );
    const inbox = await api<{ items: { delivery_id: string }[] }>('GET', '/v1/inbox?limit=500');
    const told = inbox.body.items.map((one) => one.delivery_id);
    expect(new Set(told).size).toBe(told.length);
  }

  const allReady = (): Promise<true> =>
    untilFound(
      'every role is ready again',
      async () => {
        const answers = await Promise.all(cluster.members.map(({ address }) => fetch(`${address}/readyz`)));
        if (answers.every(({ ok }) => ok)) return true;
        await pause(250);
        return undefined;
      },
      60_000,
    );

  function boundedAnswers(answers: readonly Answer[]): void {
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([202, 503]))).toEqual(new Set());
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.every(({ retryAfter }) => /^\d+$/.test(retryAfter ?? ''))).toBe(true);
    expect(Math.max(...answers.map(({ took }) => took))).toBeLessThan(ANSWERED_WITHIN);
  }

  it(
    'answers 503 with Retry-After while the broker is gone for 30 s, and delivers all that it took, without a restart',
    async () => {
      const clients = posting('broker');
      await untilFound('events are taken', () => clients.accepted.size > 20 || undefined, 60_000);
      await services.kafka.kill();
      const from = Date.now();
      const away = await watchReadiness(pause(OUTAGE));
      const during = duringOf(clients.answers, from, Date.now());
      const memory = pids().map(memoryOf);
      await services.kafka.restart();

      expect(during.length).toBeGreaterThan(10);
      expect(new Set(during.map(({ status }) => status))).toEqual(new Set([503]));
      boundedAnswers(clients.answers);
      for (const role of ['gateway', 'engine', 'delivery', 'control']) expect(away[role], role).toContain('Kafka');
      expect(Math.max(...memory)).toBeLessThan(MOST_MEMORY);

      await clients.finish();
      await allReady();
      await allDelivered(clients.accepted);
      expect(pids()).toEqual(begun);
    },
    TIMEOUT,
  );

  it(
    'goes on taking events while the database is gone for 30 s, for which the log is enough, and delivers them after',
    async () => {
      const clients = posting('database');
      await untilFound('events are taken', () => clients.accepted.size > 20 || undefined, 60_000);
      await services.mongodb.kill();
      const from = Date.now();
      const away = await watchReadiness(pause(OUTAGE));
      const during = duringOf(clients.answers, from, Date.now());
      const metrics = await Promise.all(cluster.members.map(({ address }) => fetch(`${address}/metrics`)));
      await services.mongodb.restart();

      expect(during.filter(({ status }) => status === 202).length).toBeGreaterThan(100);
      boundedAnswers(clients.answers);
      for (const role of ['engine', 'delivery', 'control']) expect(away[role], role).toEqual(new Set(['database']));
      // Numbers are wanted most when something is wrong.
      expect(metrics.map(({ status }) => status)).toEqual([200, 200, 200, 200]);

      await clients.finish();
      await allReady();
      await allDelivered(clients.accepted);
      expect(pids()).toEqual(begun);
    },
    TIMEOUT,
  );

  it(
    'holds a bounded amount in memory under three times what it can take, and refuses the rest with 503 or 429',
    async () => {
      const measured = startPosting(
        { gatewayUrl: cluster.gatewayUrl, key },
        { name: 'measured', clients: 40, every: 0 },
      );
      await pause(5_000);
      await measured.finish();
      // Open clients: they do not wait for an answer before they send the next.
      const rate = Math.ceil((measured.accepted.size / 5) * 3);
      const peaks = new Map<number, number>();
      const codes = new Map<number, number>();
      let open = 0;
      const until = Date.now() + 20_000;
      const big = 'x'.repeat(10_000);
      const sent: Promise<void>[] = [];
      for (let tick = 0; Date.now() < until; tick += 1) {
        for (let one = 0; one < rate / 20 && open < 4_000; one += 1) {
          open += 1;
          sent.push(
            fetch(`${cluster.gatewayUrl}/events/shop/orders`, {
              method: 'POST',
              headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
              body: JSON.stringify({ order_id: `over-${tick}-${one}`, status: 'open', total: 1, note: big }),
            })
              .then(async (answer) => {
                await answer.arrayBuffer();
                codes.set(answer.status, (codes.get(answer.status) ?? 0) + 1);
              })
              .catch(() => void codes.set(0, (codes.get(0) ?? 0) + 1))
              .finally(() => (open -= 1)),
          );
        }
        for (const pid of pids()) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, memoryOf(pid)));
        await pause(50);
      }
      await Promise.all(sent);
      console.log({ rate, codes, peaks: [...peaks.values()].map((bytes) => Math.round(bytes / MEBIBYTE)) });
      expect(codes.get(202)).toBeGreaterThan(0);
      expect(new Set(codes.keys()).difference(new Set([0, 202, 429, 503]))).toEqual(new Set());
      expect(Math.max(...peaks.values())).toBeLessThan(MOST_MEMORY);
      await allReady();
      expect(pids()).toEqual(begun);
    },
    TIMEOUT,
  );
});
