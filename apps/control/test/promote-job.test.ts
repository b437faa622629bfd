import { createMemoryStores } from '@carillon/testing/memory';
import type { JobId } from '@carillon/kernel';
import { givenIds } from '@carillon/testing/given';
import { newJob, type Job } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { beforeAll, describe, expect, it } from 'vitest';
import { createJobRunner } from '../src/jobs/runner.ts';
import type { ControlPorts } from '../src/index.ts';
import { useDrafts } from './draft-fixture.ts';
import { MAIL } from './resource-fixture.ts';

const under = useDrafts();
const TEST = 'shop-test';

beforeAll(async () => {
  await under.apply('workspace', '', { environment: 'test', of: 'shop' }, TEST);
  for (const name of ['hello', 'bye']) await under.apply('template', name, MAIL, TEST);
});

/** Works on a promotion of these, begun before, until nothing happens any more. */
async function promoted(items: readonly string[], from = TEST): Promise<Job | null> {
  const { jobs, runs } = createMemoryStores().connect();
  const { clock } = under.fixture.ports;
  const facts = {
    id: 'job_1' as JobId,
    workspace: 'shop',
    work: { action: 'promote', from },
    by: OWNER_ACTOR,
    byName: 'owner',
    from: { address: '127.0.0.1', userAgent: null },
    requestId: 'req_1',
    of: items.length,
  } as const;
  await jobs.insert(newJob(facts, clock.now()), items);
  const watch = { trouble: () => undefined } as unknown as ControlPorts['watch'];
  const runner = createJobRunner(
    {
      ...under.fixture.ports,
      ids: givenIds,
      watch,
      jobs,
      runs,
      runChild: { known: async () => [], forget: async () => undefined } as unknown as ControlPorts['runChild'],
    },
    'runner-1',
  );
  for (let round = 0; round < 3; round += 1) {
    await runner.round();
    await runner.idle();
  }
  return jobs.get('job_1' as JobId);
}

describe('A promotion as a job', () => {
  it('ends though something is gone from the test environment meanwhile, and promotes the others', async () => {
    const job = await promoted(['template/hello', 'template/gone', 'template/bye']);
    expect(job).toMatchObject({ state: 'done', done: 2, failed: 1 });
    expect(job?.failures).toMatchObject([{ item: 'template/gone', code: 'not_found' }]);
    const { items } = await under.fixture.ports.drafts.list('shop', 100);
    expect(items.map(({ ref }) => ref.name).toSorted()).toEqual(['bye', 'hello']);
  });

  it('ends if the workspace is no longer a test environment', async () => {
    const job = await promoted(['template/hello', 'template/bye'], 'club');
    expect(job?.failures).toMatchObject([{ code: 'wrong_state' }, { code: 'wrong_state' }]);
    expect(job?.endedAt).not.toBeNull();
  });
});
