import type { JobBody } from '@carillon/contracts';
import type { CompareRun } from '@carillon/domain/runs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner, type Principal } from '../src/access/principal.ts';
import type { ControlPorts } from '../src/index.ts';
import { createJobRunner } from '../src/jobs/runner.ts';
import { accessOf, auditEntries, openControl, personWith, type Fixture } from './control-fixture.ts';
import { markEvaluated, moveDelivery, takeCustody } from './custody.ts';
import { openMissingFixture, withIds, type MissingFixture } from './missing-fixture.ts';

/** The runner asks who may still send, and knows the owner without a stored person. */
const OWNER = deploymentOwner('session');
const EDITOR = personWith('edith', ['read', 'configure'], 'shop');
const VIEWER = personWith('vera', ['read'], 'shop');

let fixture: MissingFixture;
let run: CompareRun;
const open: Fixture[] = [];
beforeEach(async () => {
  fixture = await openMissingFixture();
  for (const id of ['a', 'b', 'c']) await fixture.order(id, 90);
  run = await fixture.compare(withIds('old'));
  await fixture.publish(withIds('old'));
});
afterEach(async () => {
  for (const { control } of open.splice(0)) await control.close();
  await fixture.topology.close();
});

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

async function ask(
  who: Principal,
  method: 'GET' | 'POST',
  path: string,
  payload?: object,
  more: Partial<ControlPorts> = {},
): Promise<Answer> {
  const { secrets: _secrets, ...ports } = fixture.ports();
  const opened = await openControl(accessOf(who), { ...ports, ...more });
  open.push(opened);
  const url = `/v1/workspaces/shop/${path}`;
  const answer = await opened.control.app.inject({ method, url, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
}
const look = async (query = '') => (await ask(OWNER, 'GET', `runs/${run.id}/missing${query}`)).body;
const send = (body: object, who: Principal = OWNER) => ask(who, 'POST', `runs/${run.id}/send`, body);
const stop = (who: Principal = OWNER, more: Partial<ControlPorts> = {}) =>
  ask(who, 'POST', `runs/${run.id}/stop`, {}, more);
const confirmed = ({ count, checksum, since }: Answer['body']) => ({ count, checksum, since });

/** Works on all jobs. */
async function work(): Promise<void> {
  await markEvaluated(fixture.topology);
  const watch = { trouble: (_where: string, error: unknown) => expect.fail(String(error)) };
  const runner = createJobRunner(
    {
      ...fixture.ports(),
      people: fixture.topology.data.people,
      watch,
      runChild: { known: async () => [], forget: async () => undefined } as unknown as ControlPorts['runChild'],
    } as unknown as ControlPorts,
    'runner',
    true,
  );
  await runner.round();
  await runner.idle();
}
const intents = () => fixture.topology.records('carillon.intents');

describe('POST /runs/{id}/send', () => {
  it('sends what was confirmed, as a job that remembers configuration and checksum, and audits job, number and checksum', async () => {
    const seen = await look();
    const { status, body } = await send({ ...confirmed(seen), expires: '2h', rate: 1000 });
    expect(status, JSON.stringify(body)).toBe(202);
    const { number } = fixture.topology.ports.configuration.current();
    expect(body).toMatchObject({
      action: 'send_missing',
      of: 3,
      parameters: {
        run: run.id,
        configuration: String(number),
        checksum: seen['checksum'],
        slot: 'none',
        expires: '2h',
        rate: '1000',
      },
    });
    await work();
    expect(await intents()).toHaveLength(3);
    const audit = await auditEntries(fixture.ports());
    expect(audit.filter(({ what, outcome }) => what === 'run.send' && outcome === 'done')).toMatchObject([
      { target: run.id, detail: `${String(body['id'])}: count 3, checksum ${String(seen['checksum'])}` },
    ]);
    expect(audit.filter(({ what }) => what === 'message.send').map(({ target }) => target)).toEqual(
      ['a', 'b', 'c'].map((id) => fixture.slotOf(id)),
    );
  });

  it('reuses the slot of a stopped message only if the request confirms stopped messages', async () => {
    await fixture.hold(fixture.slotOf('a'), 'SUPPRESSED');
    const seen = confirmed(await look('?slot=none&slot=stopped'));
    const { body } = await send({ ...seen, slot: ['stopped', 'none'], rate: 1000 });
    expect(body).toMatchObject({ of: 3, parameters: { slot: 'none,stopped' } });
    await work();
    expect(await intents()).toHaveLength(3);
  });

  it('sends events in the order in which they came', async () => {
    await send({ ...confirmed(await look()), rate: 1000 });
    const [job] = (await fixture.ports().jobs.list({ workspace: 'shop', actions: ['send_missing'] }, 1)).items;
    if (!job) throw new Error('there is no job');
    const offsets = (await fixture.ports().jobs.items(job.id)).map((item) => Number(/@(\d+)$/.exec(item)?.[1]));
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  });

  it('refuses the right number with a wrong checksum, and a list that has changed since', async () => {
    const seen = confirmed(await look());
    expect(await send({ ...seen, checksum: 'wrong' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await fixture.hold(fixture.slotOf('a'), 'SENT');
    const changed = await send(seen);
    expect(changed).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(changed.body['detail']).toContain('look at the missing messages again');
    await work();
    expect(await intents()).toEqual([]);
  });

  it('refuses an edit that is not published any more', async () => {
    const seen = confirmed(await look());
    await fixture.publish(withIds('old', 'event.total > 70'));
    expect(await send(seen)).toMatchObject({ status: 409, body: { code: 'not_published' } });
  });

  it.each([
    ['expires', { expires: 'soon' }],
    ['expires', { expires: '31d' }],
    ['expires: 3 messages at 1 a second take 3s', { expires: '2s', rate: 1 }],
    ['rate', { rate: 0 }],
    ['rate', { rate: 1_001 }],
    ['count', { count: 0 }],
    ['slot', { slot: ['notified'] }],
  ])('names the field of bad input: %s', async (field, wrong) => {
    const { status, body } = await send({ ...confirmed(await look()), ...wrong });
    expect(status).toBe(400);
    expect(String(body['detail'])).toContain(field);
  });

  it('is refused to people who may only look or edit', async () => {
    const seen = confirmed(await look());
    for (const who of [EDITOR, VIEWER]) {
      expect((await send(seen, who)).status).toBe(403);
      expect((await stop(who)).status).toBe(403);
    }
  });

  it('notifies nobody twice if two people send the same list', async () => {
    const seen = confirmed(await look());
    for (const answer of [await send({ ...seen, rate: 1000 }), await send({ ...seen, rate: 1000 })]) {
      expect(answer.status).toBe(202);
    }
    for (let jobs = 0; jobs < 2; jobs += 1) {
      await work();
      await takeCustody(fixture.topology);
    }
    expect(await fixture.ports().ledger.countByState()).toEqual({ WAITING: 3 });
    const { items } = await fixture.ports().jobs.list({ actions: ['send_missing'] }, 10);
    expect(items.map(({ failures }) => failures.map(({ code }) => code))).toEqual([
      ['conflict', 'conflict', 'conflict'],
      [],
    ]);
  });
});

describe('GET /jobs with a run', () => {
  it('lists the jobs of this comparison only, and no other kinds of jobs', async () => {
    await send({ ...confirmed(await look()), rate: 1000 });
    const other = await fixture.compare(withIds('old'));
    const actions = async (query: string) =>
      ((await ask(OWNER, 'GET', `jobs?run=${query}`)).body['items'] as JobBody[]).map(({ action }) => action);
    expect(await actions(run.id)).toEqual(['send_missing', 'compare_history']);
    expect(await actions(other.id)).toEqual(['compare_history']);
    expect(await actions(`${run.id}&action=send_missing`)).toEqual(['send_missing']);
    expect(await actions('run_none')).toEqual([]);
  });
});

describe('POST /runs/{id}/stop', () => {
  it('ends the job and cancels what still waits', async () => {
    await send({ ...confirmed(await look()), rate: 1000 });
    await work();
    await takeCustody(fixture.topology);
    await moveDelivery(fixture.topology, fixture.slotOf('a'), 'SENT');
    const { status, body } = await stop();
    expect([status, body['waiting_lookups']]).toEqual([202, 0]);
    expect(body['jobs']).toMatchObject([{ action: 'send_missing', of: 3 }]);
    await work();
    expect(await fixture.ports().ledger.countByState()).toEqual({ SENT: 1, CANCELLED: 2 });
    const audit = await auditEntries(fixture.ports());
    expect(audit.filter(({ what, outcome }) => what === 'run.stop' && outcome === 'done')).toMatchObject([
      { target: run.id },
    ]);
  });

  it('cancels a job that has not begun, which then sends nothing', async () => {
    await send({ ...confirmed(await look()), rate: 1000 });
    expect((await stop()).status).toBe(202);
    await work();
    expect(await intents()).toEqual([]);
  });

  it('begins to cancel the messages of every job before it counts questions', async () => {
    const seen = confirmed(await look());
    for (let jobs = 0; jobs < 2; jobs += 1) await send({ ...seen, rate: 1000 });
    const { jobs, configuration } = fixture.ports();
    const away = { ...configuration, at: () => Promise.reject(new Error('the store is away')) };
    expect((await stop(OWNER, { configuration: away })).status).toBe(500);
    const { items } = await jobs.list({ workspace: 'shop', actions: ['send_missing'] }, 10);
    expect(items.filter(({ work: { undoes } }) => undoes !== undefined)).toHaveLength(2);
  });

  it('is refused for a run that nobody sent', async () => {
    expect(await stop()).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  });
});
