import type { AuditEntry } from '@carillon/domain/audit';
import type { Decision } from '@carillon/domain/consent';
import type { Job } from '@carillon/domain/jobs';
import type { JobId } from '@carillon/kernel';
import { decideConsents } from '@carillon/stages';
import { givenIds, alwaysYield } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { personWith } from './control-fixture.ts';
import { mortalWire, openJobsFixture, type JobsFixture } from './jobs-fixture.ts';
import { entry } from './suppressions-fixture.ts';

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
const idOf = ({ body }: Answer): string => String(body['id']);
const jobAt = async (id: string) => (await owner.ask('GET', `jobs/${id}`)).body;

async function run(runner = fixture.runner(owner)): Promise<void> {
  await runner.round().catch(() => undefined);
  await runner.idle();
}
/** Starts a job, lets a runner end it, and returns how it ended. */
async function done(path: string, body: object) {
  const begun = await owner.ask('POST', path, body);
  expect(begun.status, JSON.stringify(begun.body)).toBe(202);
  await run();
  return jobAt(idOf(begun));
}
const undo = (job: Readonly<Record<string, unknown>>) => done(`jobs/${String(job['id'])}/undo`, {});

const addresses = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `p${at}@example.com`);
const suppress = (count: number) => fixture.suppressions.addAll(addresses(count).map((address) => entry(address)));
const sourcesOf = (address: string, workspace = 'shop') => fixture.suppressions.sources(workspace, 'email', address);

const optOut = (person: string, choice: Partial<Decision> = {}, workspace = 'shop') =>
  decideConsents(
    workspace,
    person,
    [{ target: { kind: 'all' }, channel: null, optedOut: true, way: 'page', ...choice }],
    { ...owner, ids: givenIds, consents: fixture.consents },
  );
const choicesOf = async (person: string, workspace = 'shop'): Promise<readonly string[]> => {
  const [document] = await fixture.consents.find(workspace, [person]);
  return (document?.words ?? [])
    .map(({ target, channel, optedOut: out }) => `${target.kind} ${channel ?? 'all'} ${out ? 'out' : 'in'}`)
    .toSorted();
};
const auditEntries = async (): Promise<readonly AuditEntry[]> => {
  const records = await fixture.log.read('carillon.audit', 0, 0, 100_000, 64 * 1024 * 1024);
  return records.flatMap(({ value }) => {
    const record = owner.codecs.audit.decode(value);
    return record.ok && record.value.kind === 'entry' ? [record.value] : [];
  });
};
const itemsOnAudit = async (what: string): Promise<readonly AuditEntry[]> =>
  (await auditEntries()).filter((record) => record.what === what && record.outcome === 'done');

describe('A job that takes back suppressions', () => {
  const ADA = { channel: 'email', address: 'ADA@example.com', source: 'hard_bounce' } as const;
  const BOB = { channel: 'email', address: 'bob@example.com', source: 'hard_bounce' } as const;
  const entries = [ADA, BOB, BOB, { ...BOB, address: 'nobody@example.com' }];
  beforeEach(() =>
    fixture.suppressions.addAll([
      entry('ada@example.com'),
      entry('ada@example.com', { source: 'stop', at: 2 }),
      entry('bob@example.com'),
      entry('bob@example.com', { workspace: 'club' }),
    ]),
  );

  it('counts matches of a list and of a filter first, without changing anything', async () => {
    const limits = { more: false, ceiling: 10_000 };
    const ofList = await owner.ask('POST', 'suppressions/count', { entries });
    expect(ofList).toMatchObject({ status: 200, body: { removed: 2, addresses: 2, still: 1, ...limits } });
    const ofFilter = await owner.ask('POST', 'suppressions/count', { filter: { source: 'stop' } });
    expect(ofFilter.body).toEqual({ removed: 1, addresses: 1, still: 1, ...limits });
    expect(await sourcesOf('ada@example.com')).toHaveLength(2);
  });

  it('removes the named entries and keeps those of other sources and workspaces', async () => {
    const job = await done('suppressions/remove-many', { entries });
    expect(job).toMatchObject({ action: 'remove_suppressions', state: 'done', of: 2, done: 2, can_undo: true });
    expect((await sourcesOf('ada@example.com')).map(({ source }) => source)).toEqual(['stop']);
    expect(await sourcesOf('bob@example.com')).toEqual([]);
    expect(await sourcesOf('bob@example.com', 'club')).toHaveLength(1);
  });

  it('removes all entries that match a filter', async () => {
    const filter = { source: 'hard_bounce' };
    const job = await done('suppressions/remove-many', { filter, expected: 2 });
    expect(job).toMatchObject({ state: 'done', of: 2, done: 2 });
    expect((await owner.ask('POST', 'suppressions/count', { filter })).body['removed']).toBe(0);
    expect(await sourcesOf('ada@example.com')).toHaveLength(1);
  });

  it('restores entries as they were: reason, time and author', async () => {
    const long = { detail: `5.1.1 ${'no such user '.repeat(60)}`, source: 'complaint', at: 3 } as const;
    await fixture.suppressions.addAll([entry('bob@example.com', { ...long, by: 'eve' })]);
    const before = [await sourcesOf('ada@example.com'), await sourcesOf('bob@example.com')];
    const job = await done('suppressions/remove-many', { entries: [...entries, { ...BOB, source: 'complaint' }] });
    expect(await sourcesOf('bob@example.com')).toEqual([]);
    const undone = await undo(job);
    expect(undone).toMatchObject({ state: 'done', done: 3, can_undo: false, parameters: { undoes: job['id'] } });
    expect([await sourcesOf('ada@example.com'), await sourcesOf('bob@example.com')]).toEqual(before);
  });

  it('keeps an entry that its source created again meanwhile, and names no address in the failure', async () => {
    const stop = { channel: 'email', address: 'ada@example.com', source: 'stop' } as const;
    const begun = await owner.ask('POST', 'suppressions/remove-many', { entries: [stop, BOB] });
    await fixture.suppressions.addAll([entry('ada@example.com', { source: 'stop', at: 9 })]);
    await run();
    const job = await jobAt(idOf(begun));
    expect(job).toMatchObject({ state: 'done', done: 1, failed: 1, failures: [{ code: 'conflict' }] });
    expect(JSON.stringify(job)).not.toContain('example.com');
    expect(await sourcesOf('ada@example.com')).toHaveLength(2);
  });

  it('audits each address under the target that a single removal has', async () => {
    await undo(await done('suppressions/remove-many', { entries }));
    await owner.ask('POST', 'suppressions/remove', { channel: 'email', address: 'bob@example.com' });
    const [ofAda, ofBob, single] = (await itemsOnAudit('suppression.remove')).map(({ target }) => target);
    expect(ofBob).toBe(single);
    expect(new Set([ofAda, ofBob]).size).toBe(2);
    expect((await itemsOnAudit('suppression.add')).map(({ target }) => target)).toEqual([ofAda, ofBob]);
    expect(JSON.stringify(await auditEntries())).not.toContain('example.com');
  });

  it('makes no audit id that a reader could recompute from an address', async () => {
    const job = await done('suppressions/remove-many', { entries: [BOB] });
    const [item = ''] = await fixture.jobs.items(String(job['id']) as JobId);
    const [record] = await itemsOnAudit('suppression.remove');
    expect(item).toContain('bob@example.com');
    expect(record?.id).not.toBe(givenIds.derive('audit', String(job['id']), item));
  });

  it('takes thousands without holding the request or the event loop', async () => {
    await suppress(3_000);
    const slice = alwaysYield();
    const sharing = await fixture.as(deploymentOwner('session'), { ...owner, slice });
    const filter = { source: 'hard_bounce' };
    const begun = await sharing.ask('POST', 'suppressions/remove-many', { filter, expected: 3_002 });
    expect(begun).toMatchObject({ status: 202, body: { state: 'waiting', of: 3_002, done: 0 } });
    expect(slice.ended).toBeGreaterThan(5);
    expect(await sourcesOf('p7@example.com')).toHaveLength(1);
    const working = alwaysYield();
    await run(fixture.runner(owner, undefined, working));
    expect(working.ended).toBeGreaterThan(70);
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'done', done: 3_002, failed: 0 });
    expect(await sourcesOf('p2999@example.com')).toEqual([]);
  });

  it('removes and restores each entry wherever its runner is killed', async () => {
    await suppress(45);
    const filter = { source: 'hard_bounce' };
    const before = await fixture.suppressions.list({ workspace: 'shop' }, 100);
    for (const reached of [false, true]) {
      // Past the first batch of 40 items.
      for (const at of [1, 2, 3, 20, 41, 42, 43, 44, 50]) {
        for (const start of [
          () => owner.ask('POST', 'suppressions/remove-many', { filter, expected: 47 }),
          async () => {
            const { items } = (await owner.ask('GET', 'jobs?limit=1')).body as { items: readonly { id: string }[] };
            return owner.ask('POST', `jobs/${items[0]?.id ?? ''}/undo`, {});
          },
        ]) {
          const begun = await start();
          await run(fixture.runner(owner, mortalWire({ at, reached })));
          owner.clock.pass(20_000);
          await run();
          expect(await jobAt(idOf(begun)), `write ${at}`).toMatchObject({ state: 'done', done: 47, failed: 0 });
        }
        expect(await fixture.suppressions.list({ workspace: 'shop' }, 100), `write ${at}`).toEqual(before);
      }
    }
  });
});

describe('A job that allows opt-outs again', () => {
  beforeEach(async () => {
    await optOut('ada');
    await optOut('ada', { channel: 'sms' });
    await optOut('bob', { target: { kind: 'category', name: 'orders' } });
    await optOut('eve');
    await optOut('ada', {}, 'club');
    await optOut('mia');
    await optOut('mia', { optedOut: false });
  });

  it('counts matches of a list and of a filter first, without changing anything', async () => {
    const limits = { more: false, ceiling: 10_000 };
    const people = ['ada', 'bob', 'ada', 'mia', 'nobody'];
    const ofList = await owner.ask('POST', 'consents/count', { people });
    expect(ofList).toMatchObject({ status: 200, body: { people: 2, words: 3, ...limits } });
    expect((await owner.ask('POST', 'consents/count', { filter: {} })).body).toEqual({
      people: 3,
      words: 4,
      ...limits,
    });
    const ofOne = await owner.ask('POST', 'consents/count', { filter: { person: 'ada', target: 'all' } });
    expect(ofOne.body).toMatchObject({ people: 1, words: 2 });
    expect(await choicesOf('ada')).toEqual(['all all out', 'all sms out']);
  });

  it('lifts every opt-out of the named people only, and its undo restores them', async () => {
    const job = await done('consents/allow-many', { people: ['ada', 'bob', 'ada', 'nobody'] });
    expect(job).toMatchObject({ action: 'allow_consents', state: 'done', of: 2, done: 2, can_undo: true });
    expect(await choicesOf('ada')).toEqual(['all all in', 'all sms in']);
    expect(await choicesOf('bob')).toEqual(['category all in']);
    expect(await choicesOf('eve')).toEqual(['all all out']);
    expect(await choicesOf('ada', 'club')).toEqual(['all all out']);
    const [document] = await fixture.consents.find('shop', ['ada']);
    expect(document?.words).toMatchObject([{ by: 'owner', way: 'api' }, { by: 'owner' }]);
    expect(document?.unpublished).toEqual([]);
    expect(await undo(job)).toMatchObject({ state: 'done', done: 2, failed: 0 });
    expect(await choicesOf('ada')).toEqual(['all all out', 'all sms out']);
    expect(await choicesOf('bob')).toEqual(['category all out']);
    expect(await undo(job)).toMatchObject({ state: 'done', done: 2, failed: 0 });
  });

  it('allows only the opt-outs that match a filter', async () => {
    await optOut('bob', { channel: 'email' });
    const job = await done('consents/allow-many', { filter: { target: 'category' }, expected: 1 });
    expect(job).toMatchObject({ state: 'done', of: 1, done: 1 });
    expect(await choicesOf('bob')).toEqual(['all email out', 'category all in']);
    expect(await choicesOf('ada')).toEqual(['all all out', 'all sms out']);
  });

  it('keeps an opt-out made after the job began, and its failures name no person', async () => {
    const begun = await owner.ask('POST', 'consents/allow-many', { people: ['ada', 'bob'] });
    await optOut('ada');
    await run();
    const job = await jobAt(idOf(begun));
    expect(job).toMatchObject({ state: 'done', done: 1, failed: 1, failures: [{ code: 'conflict' }] });
    expect(JSON.stringify(job['failures'])).not.toContain('ada');
    expect(await choicesOf('ada')).toEqual(['all all out', 'all sms in']);
  });

  it('does not opt out a person again who was opted in once more meanwhile', async () => {
    const job = await done('consents/allow-many', { people: ['ada'] });
    await optOut('ada', { optedOut: false });
    expect(await undo(job)).toMatchObject({ done: 0, failed: 1, failures: [{ code: 'conflict' }] });
    expect(await choicesOf('ada')).toEqual(['all all in', 'all sms out']);
  });

  it('audits each person under the target that a single choice has', async () => {
    await done('consents/allow-many', { people: ['bob'] });
    await owner.ask('POST', 'consents', { person: 'bob', target: 'all', opted_out: true });
    const targets = (await itemsOnAudit('consent.set')).map(({ target }) => target);
    expect(targets).toHaveLength(2);
    expect(new Set(targets).size).toBe(1);
  });

  it('allows and opts out each person once wherever its runner is killed', async () => {
    const people = Array.from({ length: 42 }, (_, at) => `person-${at}`);
    for (const person of people) await optOut(person);
    for (const reached of [false, true]) {
      for (const at of [1, 2, 3, 4, 50, 121, 122, 123, 124, 125]) {
        const begun = await owner.ask('POST', 'consents/allow-many', { people });
        await run(fixture.runner(owner, mortalWire({ at, reached })));
        owner.clock.pass(20_000);
        await run();
        const job = await jobAt(idOf(begun));
        expect(job, `write ${at}`).toMatchObject({ state: 'done', done: 42, failed: 0 });
        for (const person of people) expect(await choicesOf(person), `write ${at}`).toEqual(['all all in']);
        owner.clock.pass(1_000);
        expect(await undo(job), `write ${at}`).toMatchObject({ state: 'done', done: 42, failed: 0 });
        for (const person of people) expect(await choicesOf(person), `write ${at}`).toEqual(['all all out']);
        owner.clock.pass(1_000);
      }
    }
  });
});

describe('A job of a list', () => {
  it('is hidden and left waiting if only a later release knows its kind', async () => {
    await suppress(1);
    const known = await owner.ask('POST', 'suppressions/remove-many', { filter: {}, expected: 1 });
    const job = await fixture.jobs.get(idOf(known) as JobId);
    if (!job) throw new Error('the job is missing');
    const later: Job = { ...job, id: 'job_later' as JobId, work: { action: 'erase_people' } };
    await fixture.jobs.insert(later, ['one']);
    await run();
    const page = await owner.ask('GET', 'jobs');
    expect([page.status, (page.body['items'] as readonly { id: string }[]).map(({ id }) => id)]).toEqual([
      200,
      [idOf(known)],
    ]);
    expect((await owner.ask('GET', 'jobs/job_later')).status).toBe(404);
    expect(await fixture.jobs.get(later.id)).toEqual(later);
  });

  it('does not start if the match count differs from the expected one or is zero, or unless it gets either a filter or items', async () => {
    await suppress(3);
    await optOut('ada');
    const filter = {};
    const one = { channel: 'email', address: 'p1@example.com', source: 'hard_bounce' };
    const refusals: readonly [string, object, number, string][] = [
      ['suppressions/remove-many', { filter, expected: 2 }, 409, '3 match now, and 2 were expected'],
      [
        'suppressions/remove-many',
        { filter: { source: 'stop' }, expected: 0 },
        409,
        'none of the matching items can be removed',
      ],
      ['suppressions/remove-many', { filter }, 400, 'expected'],
      ['suppressions/remove-many', {}, 400, 'entries'],
      ['suppressions/remove-many', { entries: [one], filter, expected: 3 }, 400, 'entries'],
      ['suppressions/count', {}, 400, 'entries'],
      ['suppressions/count', { entries: [one], filter }, 400, 'entries'],
      ['consents/allow-many', { filter, expected: 0 }, 409, '1 match now, and 0 were expected'],
      ['consents/allow-many', { people: ['bob'] }, 409, 'none of the matching items can be allowed again'],
      ['consents/allow-many', { people: ['ada'], expected: 1 }, 400, 'people'],
      ['consents/allow-many', { filter: { name: 'orders' }, expected: 1 }, 400, 'target'],
      ['consents/count', {}, 400, 'people'],
    ];
    for (const [path, body, status, detail] of refusals) {
      const refused = await owner.ask('POST', path, body);
      expect(refused.status, JSON.stringify([path, body])).toBe(status);
      expect(String(refused.body['detail'])).toContain(detail);
    }
    expect((await owner.ask('GET', 'jobs')).body['items']).toEqual([]);
  });

  it('accepts up to the maximum number of named entries', async () => {
    await suppress(1);
    const entries = Array.from({ length: 10_000 }, (_, at) => {
      const address = `p${at}@a-rather-long-name-of-a-company-for-an-address.example.com`;
      return { channel: 'email', address, source: 'hard_bounce' };
    });
    entries[0] = { channel: 'email', address: 'p0@example.com', source: 'hard_bounce' };
    const counted = await owner.ask('POST', 'suppressions/count', { entries });
    expect(counted).toMatchObject({ status: 200, body: { removed: 1 } });
    const begun = await owner.ask('POST', 'suppressions/remove-many', { entries });
    expect(begun).toMatchObject({ status: 202, body: { of: 1 } });
  });

  it('refuses more than the maximum number of entries, and entries whose text is too long', async () => {
    const detail = 'x'.repeat(500);
    await fixture.suppressions.addAll(addresses(10_001).map((address) => entry(address, { detail })));
    const filter = {};
    expect((await owner.ask('POST', 'suppressions/count', { filter })).body).toMatchObject({
      removed: 10_000,
      more: true,
    });
    const tooMany = await owner.ask('POST', 'suppressions/remove-many', { filter, expected: 10_000 });
    expect([tooMany.status, String(tooMany.body['detail'])]).toEqual([
      409,
      'more than 10000 match, which is the limit of one job: narrow the filter, for example by time',
    ]);
    await fixture.suppressions.remove('shop', 'email', 'p1@example.com');
    const tooLong = await owner.ask('POST', 'suppressions/remove-many', { filter, expected: 10_000 });
    expect(tooLong).toMatchObject({
      status: 409,
      body: { detail: 'these items are too long for one job: choose fewer' },
    });
  });

  it('can be undone only after it ended, only once, and only by people who may start it', async () => {
    await suppress(2);
    const filter = {};
    const begun = await owner.ask('POST', 'suppressions/remove-many', { filter, expected: 2 });
    const early = await owner.ask('POST', `jobs/${idOf(begun)}/undo`, {});
    expect(early).toMatchObject({ status: 409, body: { detail: 'the job has not ended: cancel it first' } });
    await run();
    const setter = await fixture.as(personWith('ann', ['read', 'configure']), owner);
    expect((await setter.ask('POST', `jobs/${idOf(begun)}/undo`, {})).status).toBe(403);
    const stranger = await fixture.as(personWith('ann', ['read', 'operate'], 'club'), owner);
    expect((await stranger.ask('POST', `/v1/workspaces/club/jobs/${idOf(begun)}/undo`, {})).status).toBe(404);
    const undone = await undo(await jobAt(idOf(begun)));
    expect((await owner.ask('POST', `jobs/${String(undone['id'])}/undo`, {})).status).toBe(409);
    const [failed] = await fixture.deliver(1);
    const resent = await done('deliveries/resend', { ids: [failed?.id] });
    expect(resent).toMatchObject({ can_undo: false });
    expect((await owner.ask('POST', `jobs/${String(resent['id'])}/undo`, {})).status).toBe(409);
  });

  it('can be undone up to where it came if it was cancelled', async () => {
    await suppress(60);
    const begun = await owner.ask('POST', 'suppressions/remove-many', { filter: {}, expected: 60 });
    const before = await fixture.suppressions.list({ workspace: 'shop' }, 100);
    const wire = mortalWire({ at: 60, reached: true });
    await run(fixture.runner(owner, wire));
    owner.clock.pass(20_000);
    expect((await owner.ask('POST', `jobs/${idOf(begun)}/cancel`, {})).body).toMatchObject({ state: 'cancelled' });
    expect((await fixture.suppressions.list({ workspace: 'shop' }, 100)).items.length).toBeLessThan(20);
    await undo(await jobAt(idOf(begun)));
    expect(await fixture.suppressions.list({ workspace: 'shop' }, 100)).toEqual(before);
  });
});
