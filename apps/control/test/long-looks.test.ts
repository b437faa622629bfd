import type { ErasureFindings } from '@carillon/ports';
import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { erasingOne } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const BODY = { person: 'bob@example.com', reason: 'Letter' };
const FOUND: ErasureFindings = { counts: { deliveries: 1 }, checksum: 'c1', undecided: [] };

let fixture: JobsFixture;
let begun: (() => void)[];
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  fixture = await openJobsFixture();
  begun = [];
  return () => vi.useRealTimers();
});
afterEach(() => fixture.close());

/** Resolves when this many looks have begun. */
async function untilBegun(looks: number): Promise<void> {
  while (begun.length < looks) await nextTurn();
}

/** An owner of a deployment whose log takes long to read. A look ends when the test says so. */
async function ownerOfLargeLog() {
  const own = erasingOne();
  const find = (): Promise<ErasureFindings> => new Promise((resolve) => begun.push(() => resolve(FOUND)));
  const leases = createMemoryLeases().connect(createDirectWire());
  const erasing = { ...own, eraser: { ...own.eraser, find } };
  const owner = await fixture.as(deploymentOwner('session'), { leases, erasing });
  await fixture.publishShop(owner);
  return owner;
}

describe('A look for a person that takes longer than a request may', () => {
  it('goes on, and its result is the response to the same request sent again', async () => {
    const owner = await ownerOfLargeLog();
    const first = owner.ask('POST', 'erasures', BODY);
    await untilBegun(1);
    await vi.advanceTimersByTimeAsync(9_000);
    const { status, headers, body } = await first;
    expect(status).toBe(503);
    expect(body).toMatchObject({
      code: 'overloaded',
      detail: expect.stringContaining('send the same request again') as unknown,
    });
    expect(headers['retry-after']).toBe('1');
    const second = owner.ask('POST', 'erasures', BODY);
    begun[0]?.();
    expect(await second).toMatchObject({ status: 200, body: { checksum: 'c1' } });
    expect(begun).toHaveLength(1);
  });

  it('begins anew once its result was read, and for a request that confirms it', async () => {
    const owner = await ownerOfLargeLog();
    for (const body of [BODY, BODY, { ...BODY, confirm: 'c1' }]) {
      const looks = begun.length;
      const asked = owner.ask('POST', 'erasures', body);
      await untilBegun(looks + 1);
      begun[looks]?.();
      expect((await asked).status).toBeLessThan(300);
    }
  });

  it('is refused while others go on', async () => {
    const owner = await ownerOfLargeLog();
    const people = ['ada', 'bob', 'eve', 'joe', 'kim'].map((name) => ({ ...BODY, person: `${name}@example.com` }));
    const asked = people.map((body) => owner.ask('POST', 'erasures', body));
    await untilBegun(4);
    // The fifth is refused at once.
    expect(await Promise.race(asked)).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    for (const end of begun) end();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 503]);
  });
});
