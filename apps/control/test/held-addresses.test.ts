import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { mortalWire, openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const ENTRIES = ['ada', 'bob'].map((name) => ({ channel: 'email', address: `${name}@example.com` }));

describe('a job that suppresses addresses', () => {
  let fixture: JobsFixture;
  let owner: Awaited<ReturnType<JobsFixture['as']>>;
  beforeEach(async () => {
    fixture = await openJobsFixture();
    owner = await fixture.as(deploymentOwner('session'));
    await fixture.publishShop(owner);
  });
  afterEach(() => fixture.close());

  async function done(path: string, body: object, runner = fixture.runner(owner)) {
    const { status, body: begun } = await owner.ask('POST', path, body);
    expect(status, JSON.stringify(begun)).toBe(202);
    for (const one of [runner, fixture.runner(owner)]) {
      await one.round().catch(() => undefined);
      await one.idle();
      owner.clock.pass(20_000);
    }
    return (await owner.ask('GET', `jobs/${String(begun['id'])}`)).body;
  }

  it('holds each address once wherever its runner is killed, and its undo takes all back', async () => {
    for (const at of [1, 2, 3, 4]) {
      const runner = fixture.runner(owner, mortalWire({ at, reached: true }));
      const job = await done('suppressions/add-many', { entries: ENTRIES, detail: 'a letter' }, runner);
      expect(job).toMatchObject({ action: 'hold_addresses', state: 'done', done: 2, failed: 0, can_undo: true });
      const { items } = await fixture.suppressions.list({ workspace: 'shop' }, 10);
      expect(items.map(({ address, source }) => `${address} ${source}`).toSorted()).toEqual([
        'ada@example.com operator',
        'bob@example.com operator',
      ]);
      expect(await done(`jobs/${String(job['id'])}/undo`, {})).toMatchObject({ state: 'done', done: 2, failed: 0 });
      expect((await fixture.suppressions.list({ workspace: 'shop' }, 10)).items).toEqual([]);
    }
  });
});
