import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

async function auditOf(what: string) {
  const records = await fixture.log.read('carillon.audit', 0, 0, 100_000, 64 * 1024 * 1024);
  return records.flatMap(({ value }) => {
    const record = owner.codecs.audit.decode(value);
    return record.ok && record.value.kind === 'entry' && record.value.what === what ? [record.value] : [];
  });
}

describe('the audit of a job', () => {
  it('has no record for ids that do not exist, and one record for all refused items', async () => {
    const [failed] = await fixture.deliver(1);
    const sent = await fixture.deliver(60, { state: 'SENT' });
    const unknown = Array.from({ length: 200 }, (_, at) => `dlv_none_${at}`);
    const ids = [...unknown, ...sent.map(({ id }) => id), failed?.id];
    const begun = await owner.ask('POST', 'deliveries/resend', { ids });
    const runner = fixture.runner(owner);
    await runner.round();
    await runner.idle();
    const id = String(begun.body['id']);
    expect((await owner.ask('GET', `jobs/${id}`)).body).toMatchObject({ state: 'done', of: 261, done: 1, failed: 260 });
    expect((await auditOf('delivery.resend')).map(({ target, outcome, code }) => [target, outcome, code])).toEqual([
      [id, 'refused', 'wrong_state'],
      [failed?.id, 'done', null],
    ]);
    expect(await auditOf('job.end')).toHaveLength(1);
  });
});
