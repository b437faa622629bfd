import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { erasingOne } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const DAY = 86_400_000;

let fixture: JobsFixture;
beforeEach(async () => {
  fixture = await openJobsFixture();
});
afterEach(() => fixture.close());

describe('The certificate of an erasure', () => {
  it('counts retention from the end, because records of the person may come until then', async () => {
    const leases = createMemoryLeases().connect(createDirectWire());
    const own = erasingOne();
    const bytesUntil = async (now: number): Promise<number> => now + 90 * DAY;
    const erasing = { ...own, eraser: { ...own.eraser, bytesUntil } };
    const owner = await fixture.as(deploymentOwner('session'), { leases, erasing });
    await fixture.publishShop(owner);
    const body = { person: 'bob@example.com', reason: 'Letter', confirm: 'c1' };
    expect((await owner.ask('POST', 'erasures', body)).status).toBe(202);
    owner.clock.pass(2 * DAY);
    const runner = fixture.runner(owner, undefined, undefined, { erasing });
    await runner.round();
    await runner.idle();
    const { items } = (await owner.ask('GET', 'erasures')).body as {
      readonly items: readonly {
        readonly erased_at: string;
        readonly remains: readonly { readonly until: string }[];
      }[];
    };
    const [certificate] = items;
    const until = Date.parse(certificate?.remains[0]?.until ?? '');
    expect(until - Date.parse(certificate?.erased_at ?? '')).toBe(90 * DAY);
  });
});
