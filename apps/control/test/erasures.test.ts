import { CarillonError, type DeliveryId } from '@carillon/kernel';
import type { ErasureWork } from '@carillon/ports';
import { createDirectWire, createMemoryLeases } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { erasingOne, personWith } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const leases = createMemoryLeases().connect(createDirectWire());
const BODY = { person: 'bob@example.com', reason: 'Letter' };

let fixture: JobsFixture;
beforeEach(async () => {
  fixture = await openJobsFixture();
});
afterEach(() => fixture.close());

const as = async (...given: Parameters<JobsFixture['as']>) => {
  const [principal, more] = given;
  const control = await fixture.as(principal, { leases, ...more });
  await fixture.publishShop(control);
  return control;
};

describe('The route that erases a person', () => {
  it('is refused while a topic of personal data is kept forever', async () => {
    const own = erasingOne();
    const bytesUntil = () => Promise.reject(new CarillonError('wrong_state', 'carillon.outcomes is kept forever'));
    const owner = await as(deploymentOwner('session'), { erasing: { ...own, eraser: { ...own.eraser, bytesUntil } } });
    const { status, body } = await owner.ask('POST', 'erasures', BODY);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      code: 'wrong_state',
      detail: expect.stringContaining('carillon.outcomes') as unknown,
    });
  });

  it('says from the start until when bytes remain on a log that cannot be overwritten', async () => {
    const own = erasingOne();
    const bytesUntil = async () => 1_800_000_000_000;
    const owner = await as(deploymentOwner('session'), { erasing: { ...own, eraser: { ...own.eraser, bytesUntil } } });
    const begun = await owner.ask('POST', 'erasures', { ...BODY, confirm: 'c1' });
    expect(begun.body['erasure']).toMatchObject({
      remains: [{ where: 'log', until: '2027-01-15T08:00:00.000Z' }],
    });
  });

  it('is limited to owners, and for all workspaces to owners of the deployment', async () => {
    const [editor, ofShop, owner] = await Promise.all([
      as(personWith('per_ed', ['read', 'configure', 'operate']), { erasing: erasingOne() }),
      as(personWith('per_own', ['read', 'people'], 'shop'), { erasing: erasingOne() }),
      as(deploymentOwner('session'), { erasing: erasingOne() }),
    ]);
    expect((await editor.ask('POST', 'erasures', BODY)).status).toBe(403);
    expect((await ofShop.ask('POST', '/v1/workspaces/-/erasures', BODY)).status).toBe(403);
    expect((await ofShop.ask('POST', 'erasures', BODY)).status).toBe(200);
    expect((await owner.ask('POST', '/v1/workspaces/-/erasures', BODY)).status).toBe(200);
  });

  it('looks for keyed hashes in one workspace, or in all', async () => {
    const asked: ErasureWork[] = [];
    const owner = await as(deploymentOwner('session'), { erasing: erasingOne(asked) });
    await owner.ask('POST', 'erasures', BODY);
    await owner.ask('POST', '/v1/workspaces/-/erasures', BODY);
    expect(asked.map(({ matcher }) => matcher.covers('club'))).toEqual([false, true]);
    expect(asked.every(({ matcher }) => matcher.isPerson('BOB@example.com'))).toBe(true);
  });

  it('refuses an address shared by several people, and accepts each person by user id', async () => {
    const owner = await as(deploymentOwner('session'), { erasing: erasingOne() });
    for (const person of ['7', '42']) {
      await fixture.deliver(1, { state: 'SENT', intent: { person, to: BODY.person } });
    }
    const several = await owner.ask('POST', 'erasures', BODY);
    expect(several).toMatchObject({ status: 400, body: { code: 'invalid_request', pointer: '/person' } });
    expect(several.body['detail']).toContain('2 people');
    const one = await owner.ask('POST', 'erasures', { ...BODY, person: '42' });
    expect(one).toMatchObject({ status: 200, body: { shared_addresses: 1 } });
  });

  it('refuses to start on a full disk, and while a message is in doubt', async () => {
    const doubt = 'dlv_37G5398XK2YK0SPEA59673M7JP' as DeliveryId;
    await fixture.deliver(1, { id: doubt, state: 'IN_DOUBT', intent: { person: '42', to: BODY.person } });
    const own = erasingOne();
    const find = async () => ({ counts: { deliveries: 1 }, checksum: 'c1', undecided: [doubt] });
    const unsure = await as(deploymentOwner('session'), { erasing: { ...own, eraser: { ...own.eraser, find } } });
    const refused = await unsure.ask('POST', 'erasures', { ...BODY, confirm: 'c1' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect(refused.body['detail']).toContain(doubt);
    const requireRoom = () => Promise.reject(new CarillonError('no_room', 'an erasure needs 2 MiB of free disk'));
    const full = await as(deploymentOwner('session'), { erasing: { ...own, requireRoom } });
    expect(await full.ask('POST', 'erasures', { ...BODY, confirm: 'c1' })).toMatchObject({
      status: 507,
      body: { code: 'no_room' },
    });
    expect((await full.ask('GET', 'erasures')).body['items']).toEqual([]);
  });

  it('starts one job if the checksum of the preview matches, and no second job for the same person while it runs', async () => {
    const owner = await as(deploymentOwner('session'), { erasing: erasingOne() });
    expect(await owner.ask('POST', 'erasures', { ...BODY, confirm: 'c0' })).toMatchObject({ status: 409 });
    const begun = await owner.ask('POST', 'erasures', { ...BODY, confirm: 'c1' });
    expect(begun, JSON.stringify(begun.body)).toMatchObject({ status: 202 });
    expect(begun.body['erasure']).toMatchObject({ workspace: 'shop', erased_at: null, erased: { deliveries: 1 } });
    const second = await owner.ask('POST', 'erasures', { ...BODY, confirm: 'c1' });
    expect(second).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('carries on an erasure that was stored without its job, because the process was killed', async () => {
    const owner = await as(deploymentOwner('session'), { erasing: erasingOne() });
    const killed = { ...fixture.jobs, insert: () => Promise.reject(new Error('killed')) };
    const dying = await as(deploymentOwner('session'), { erasing: erasingOne(), jobs: killed });
    expect((await dying.ask('POST', 'erasures', { ...BODY, confirm: 'c1' })).status).toBe(500);
    const [stored] = (await owner.ask('GET', 'erasures')).body['items'] as { id: string; job: string }[];
    const begun = await owner.ask('POST', 'erasures', { ...BODY, confirm: 'c1' });
    expect(begun).toMatchObject({ status: 202, body: { erasure: { id: stored?.id, job: stored?.job } } });
    expect((await owner.ask('GET', 'erasures')).body['items']).toHaveLength(1);
    expect((await owner.ask('GET', `jobs/${stored?.job}`)).status).toBe(200);
  });

  it('starts one job if two owners confirm at once', async () => {
    const owners = await Promise.all([0, 1].map(() => as(deploymentOwner('session'), { erasing: erasingOne() })));
    const answers = await Promise.all(owners.map((owner) => owner.ask('POST', 'erasures', { ...BODY, confirm: 'c1' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 409]));
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'conflict' });
  });
});
