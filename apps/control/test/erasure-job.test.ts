import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { erasingOne } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

let fixture: JobsFixture;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  fixture = await openJobsFixture();
  return () => vi.useRealTimers();
});
afterEach(() => fixture.close());

it('An erasure that finds something in each of ten passes fails, and is not written as ended', async () => {
  const leases = createMemoryLeases().connect(createDirectWire());
  const own = erasingOne();
  let passes = 0;
  const erase = async () => {
    passes += 1;
    return { counts: { log_records: 1 }, checksum: 'c', undecided: [] };
  };
  const erasing = { ...own, eraser: { ...own.eraser, erase } };
  const owner = await fixture.as(deploymentOwner('session'), { leases, erasing });
  await fixture.publishShop(owner);
  const body = { person: 'bob@example.com', reason: 'Letter', confirm: 'c1' };
  const begun = await owner.ask('POST', 'erasures', body);
  expect(begun.status, JSON.stringify(begun.body)).toBe(202);
  const { job } = begun.body['erasure'] as { readonly job: string };
  const runner = fixture.runner(owner, undefined, undefined, { erasing });
  await runner.round();
  const idle = runner.idle();
  while (passes < 10) await vi.advanceTimersByTimeAsync(250);
  await idle;
  const ended = (await owner.ask('GET', `jobs/${job}`)).body;
  expect(ended).toMatchObject({ failures: [{ code: 'wrong_state' }] });
  expect(JSON.stringify(ended)).toContain('stop sending events about the person');
  expect((await owner.ask('GET', 'erasures')).body['items']).toMatchObject([{ erased_at: null }]);
  expect((await owner.ask('POST', 'erasures', body)).status).toBe(202);
});
