import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, restartOver, shopFiles, type Shop } from './shop.ts';

/* Long actions of the running product, each from what it is counted by to what has become of it. Many resends, and a kill in their midst: chapter 31. */

type Job = {
  readonly id: string;
  readonly state: string;
  readonly action: string;
  readonly of: number;
  readonly done: number;
  readonly failed: number;
};

const BROKEN = 3;
const JOBS_OF = { shop: '/v1/workspaces/shop/jobs', deployment: '/v1/workspaces/-/jobs' } as const;

let closed: () => Promise<void>;
let shop: Shop;
beforeAll(async () => {
  const opened = await openShop({
    files: {
      ...shopFiles(),
      'workspaces/shop-test/workspace.yaml': 'name: Shop, tests\nenvironment: test\nof: shop\n',
      'workspaces/shop-test/partials/footer.hbs': 'Tried first\n',
    },
  });
  const restarted = await restartOver(opened, async ({ log }) => {
    const headers = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: 'evt_TORN' };
    const value = new TextEncoder().encode('{"order_id": "torn');
    const torn = { topic: 'carillon.events', key: 'broken', value, headers } as const;
    await log.append(Array.from({ length: BROKEN }, () => ({ ...torn, partition: 0 })));
  });
  shop = restarted;
  closed = () => restarted.close();
});
afterAll(() => closed());

/** Begins a job, and answers it once it has ended, as it stands where its `Location` says. */
async function done(path: string, body: object): Promise<Job> {
  const { status, headers } = await shop.api('POST', path, body);
  expect(status).toBe(202);
  const place = headers.get('location') ?? '';
  return untilFound(`the job of ${path} has ended`, async () => {
    const { body: job } = await shop.api<Job>('GET', place);
    return ['done', 'failed', 'cancelled'].includes(job.state) ? job : undefined;
  });
}

describe('A long action', () => {
  it('redrives the counted dead letters; while the cause remains, each returns as a new dead letter', async () => {
    type Letters = { readonly items: readonly { readonly id: string }[] };
    const letters = async (query: string): Promise<readonly string[]> =>
      (await shop.api<Letters>('GET', `/v1/workspaces/shop/dead-letters?${query}`)).body.items.map(({ id }) => id);
    await untilFound('the broken records are dead letters', async () =>
      (await letters('redriven=false')).length === BROKEN ? true : undefined,
    );
    const before = await letters('redriven=false');
    const counted = await shop.api<{ count: number }>('GET', '/v1/workspaces/shop/dead-letters/count');
    expect(counted.body.count).toBe(BROKEN);
    const tooFew = { filter: {}, expected: BROKEN - 1 };
    expect((await shop.api('POST', '/v1/workspaces/shop/dead-letters/redrive', tooFew)).status).toBe(409);

    const job = await done('/v1/workspaces/shop/dead-letters/redrive', { filter: {}, expected: BROKEN });
    expect(job).toMatchObject({ state: 'done', action: 'redrive_dead_letters', of: BROKEN, done: BROKEN, failed: 0 });
    expect((await letters('redriven=true')).toSorted()).toEqual(before.toSorted());
    await untilFound('they came back', async () =>
      (await letters('redriven=false')).length === BROKEN ? true : undefined,
    );
  });

  it('promotes a test environment into drafts of the live workspace, as a job of the live workspace', async () => {
    const job = await done('/v1/workspaces/shop-test/promotions', {});
    expect(job).toMatchObject({ state: 'done', action: 'promote', failed: 0 });
    const jobs = await shop.api<{ items: readonly Job[] }>('GET', `${JOBS_OF.shop}?action=promote`);
    expect(jobs.body.items.map(({ id }) => id)).toEqual([job.id]);
    const draft = await shop.api<{ body: unknown }>('GET', '/v1/workspaces/shop/partials/footer/draft');
    expect(draft).toMatchObject({ status: 200, body: { body: { text: 'Tried first\n' } } });
    const published = await shop.api('POST', '/v1/workspaces/shop/drafts/publish', {
      drafts: [{ kind: 'partial', name: 'footer' }],
    });
    expect(published.status).toBe(200);
    expect((await shop.api('GET', '/v1/workspaces/shop/partials/footer')).status).toBe(200);
  });

  it('writes a backup, as a job of the deployment', async () => {
    const file = join(shop.folder, 'by-a-job.carillon');
    const job = await done('/v1/backups', { file });
    expect(job).toMatchObject({ state: 'done', action: 'write_backup' });
    expect(existsSync(file)).toBe(true);
    const jobs = await shop.api<{ items: readonly Job[] }>('GET', JOBS_OF.deployment);
    expect(jobs.body.items.map(({ id }) => id)).toContain(job.id);
  });
});
