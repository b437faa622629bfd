import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startScriptedSmtp, untilFound } from '@carillon/testing';
import { startCluster, startClusterServices, type ClusterServices, type Member } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { caller, order, scratch, shopFiles } from '../integration/product/shop.ts';
import { writeBundle } from '../../tools/bundle.ts';
import { describeWith } from '../support/requirements.ts';
import release from './release-before.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Beside other work, `npm ci` and two bundles take minutes. */
const START_TIMEOUT = 1_200_000;
const TIMEOUT_MS = 300_000;
/** Events that are taken in each phase, so that all partitions have some. */
const EACH_PHASE = 150;
/** Between two events: some twenty a second. */
const PACE = 50;
/** In the order of docs/upgrade.md: who reads before who writes, and who looks after the stores before all. */
const ORDER = ['control', 'delivery', 'engine', 'gateway'] as const;

/** The release of before as it was published: its own files with the packages of its own lockfile. */
async function bundleOfBefore(folder: string): Promise<string> {
  const source = join(folder, 'source');
  await mkdir(source, { recursive: true });
  const archive = spawn('git', ['archive', release.commit], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-xf', '-', '-C', source], { stdio: [archive.stdout, 'inherit', 'inherit'] });
  const [code] = (await once(tar, 'close')) as [number];
  if (code !== 0) throw new Error(`commit ${release.commit} is not in this clone`);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: source });
  const bundle = join(folder, 'before');
  await run(process.execPath, ['tools/bundle.ts', bundle], { cwd: source });
  return join(bundle, 'carillon.js');
}

/** A customer that sends one order after the other, each until it is taken. */
function startTraffic(gateways: () => readonly Member[], key: string) {
  const taken: string[] = [];
  let ending = false;
  async function send(id: string): Promise<void> {
    await untilFound(
      `${id} is taken`,
      async () => {
        const [gateway] = gateways();
        const answer = await fetch(`${gateway?.address}/events/shop/orders`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': id },
          body: JSON.stringify(order(id)),
        }).catch(() => undefined);
        await answer?.arrayBuffer();
        return answer?.status === 202 ? true : undefined;
      },
      TIMEOUT_MS,
    );
    taken.push(id);
  }
  const over = (async () => {
    for (let number = 1; !ending; number += 1) {
      await send(`U-${number}`);
      await pause(PACE);
    }
  })();
  return {
    taken,
    /** Resolves when so many more were taken. */
    async more(): Promise<void> {
      const wanted = taken.length + EACH_PHASE;
      await untilFound('more events', () => (taken.length >= wanted ? true : undefined), TIMEOUT_MS);
    },
    async end(): Promise<void> {
      ending = true;
      await over;
    },
  };
}

describeWith(['kafka', 'mongodb', 'registry'], 'A release beside the one before it, on one cluster', () => {
  let folder: string;
  let remove: () => Promise<void>;
  let services: ClusterServices;
  let before: string;
  let after: string;

  beforeAll(async () => {
    ({ folder, remove } = await scratch());
    before = await bundleOfBefore(folder);
    await writeBundle(join(folder, 'after'));
    after = join(folder, 'after/carillon.js');
    services = await startClusterServices();
  }, START_TIMEOUT);
  afterAll(async () => {
    await services?.stop();
    await remove();
  }, START_TIMEOUT);

  it(
    'takes over role by role under traffic, and gives back: each message is accepted once',
    async () => {
      const smtp = await startScriptedSmtp();
      const dataDir = join(folder, 'data');
      const cluster = await startCluster({ services, dataDir, program: before });
      try {
        const api = caller(cluster);
        const made = await api<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
        const deployment = `backend: cluster
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: Shop <shop@example.com> }
`;
        const files = shopFiles({ deployment });
        const applied = await api('POST', '/v1/configuration/apply', { files, prune: false });
        expect(applied).toMatchObject({ status: 200, body: { faults: [] } });

        let gateways: readonly Member[] = cluster.of('gateway');
        const traffic = startTraffic(() => gateways, made.body.key);
        await traffic.more();

        /** Beside each role one of the other program; then the first ones stop, in the same order. */
        const change = async (program: string): Promise<void> => {
          const leaving = cluster.members.filter(({ running }) => running);
          for (const role of ORDER) await cluster.join(role, program);
          await traffic.more();
          gateways = cluster.of('gateway').filter((member) => !leaving.includes(member) && member.running);
          for (const role of ORDER) {
            for (const member of leaving.filter((one) => one.role === role)) await member.stop();
          }
          await traffic.more();
        };
        await change(after);
        await change(before);
        await traffic.end();

        const accepted = (): readonly string[] =>
          smtp.accepted.map(({ raw }) => /^Subject: Order (U-\d+)/m.exec(raw)?.[1] ?? raw);
        await untilFound(
          'every message',
          () => (new Set(accepted()).size >= traffic.taken.length ? true : undefined),
          TIMEOUT_MS,
        );
        // Whoever would tell somebody twice has done so by the time that nothing waits any more.
        const control = cluster.of('control').findLast(({ running }) => running);
        const now = caller({ controlUrl: control?.address ?? '', token: cluster.token });
        await untilFound(
          'nothing waits',
          async () => {
            const { body } = await now<{ items: readonly { state: string }[] }>(
              'GET',
              '/v1/workspaces/shop/deliveries?state=WAITING',
            );
            return body.items.length === 0 ? true : undefined;
          },
          TIMEOUT_MS,
        );
        const byNumber = (one: string, other: string): number => Number(one.slice(2)) - Number(other.slice(2));
        expect(accepted().toSorted(byNumber)).toEqual(traffic.taken.toSorted(byNumber));
      } finally {
        await cluster.stop();
        await smtp.stop();
      }
    },
    TIMEOUT_MS * 4,
  );
});
