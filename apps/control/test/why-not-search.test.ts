import type { RunBody, WhyNotBody } from '@carillon/contracts';
import { formatPosition } from '@carillon/domain/events';
import type { FindRun } from '@carillon/domain/runs';
import { CarillonError, type EventId, type JobId, type RunId } from '@carillon/kernel';
import { neverYield } from '@carillon/testing/given';
import { createDirectWire, createMemoryStores } from '@carillon/testing/memory';
import { evaluateAll, projectAll } from '@carillon/testing/topology';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { deploymentOwner, type Principal } from '../src/access/principal.ts';
import type { ControlPorts, RunChild, RunOrder, RunResult } from '../src/index.ts';
import { createJobRunner } from '../src/jobs/runner.ts';
import { removeTexts } from '../src/runs/remove-texts.ts';
import { scripted, untilStopped } from './compare-fixture.ts';
import { accessOf, auditEntries, openControl, personWith, plainSealer } from './control-fixture.ts';
import { useDrafts } from './draft-fixture.ts';
import { ORDERS } from './resource-fixture.ts';

const under = useDrafts();
const WHO = 'ada@example.com';
const RIVAL = 'rival';

let ports: ControlPorts;
let eventId: EventId;
beforeAll(async () => {
  const { topology } = under.fixture;
  await under.apply('workspace', '', { name: 'Rival' }, RIVAL);
  await under.apply('stream', 'takeover', ORDERS, RIVAL);
  eventId = await topology.event({ order_id: 'A-1', status: 'open', email: WHO });
  await evaluateAll(topology);
  await projectAll(topology);
  topology.clock.pass(60_000);
});
beforeEach(() => {
  const stores = createMemoryStores().connect(createDirectWire());
  const { jobs, runs } = stores;
  const people = under.fixture.ports.people;
  ports = { ...under.fixture.ports, jobs, runs, people, runSealer: plainSealer, runChild: {} as RunChild };
});

/** Asks as somebody; returns the text too, to look for what may not be in it. */
async function asking(who: Principal, served = ports) {
  const { control, log, codecs } = await openControl(accessOf(who), served);
  const ask = async (method: 'GET' | 'POST', path: string, payload?: object, workspace = 'shop') => {
    const url = `/v1/workspaces/${workspace}/${path}`;
    const answer = await control.app.inject({ method, url, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json<RunBody & WhyNotBody>(), text: answer.body };
  };
  return { ask, log, codecs };
}
const owner = () => asking(deploymentOwner('session'));
const person = (name: string, permissions: readonly Permission[], workspace = 'shop') =>
  asking(personWith(name, permissions, workspace));

type Execute = (order: RunOrder<'find'>, stop: AbortSignal) => Promise<RunResult<'find'>>;
/** A runner whose child process does what the test says. */
function runnerWith(execute: Execute) {
  const { runChild } = scripted((async (_run: unknown, order: RunOrder<'find'>, _reports: unknown, stop: AbortSignal) =>
    execute(order, stop)) as never);
  return createJobRunner({ ...ports, runChild, slice: neverYield }, 'runner');
}
async function work(execute: Execute): Promise<void> {
  const runner = runnerWith(execute);
  await runner.round();
  await runner.idle();
  await runner.round();
}

const foundEvent = () => {
  const position = under.fixture.topology.ports.readModels.event(eventId);
  return position.then(([row]) => ({
    eventId,
    position: formatPosition({
      logId: under.fixture.topology.ports.log.logId,
      topic: 'carillon.events',
      partition: 0,
      offset: row?.offset ?? 0,
    }),
    at: row?.at ?? 0,
  }));
};
const result = async (): Promise<RunResult<'find'>> => ({
  checksum: 'c'.repeat(64),
  counts: { events: 9, found: 1 },
  events: [await foundEvent()],
});

async function started(text = WHO): Promise<RunBody> {
  const { status, body } = await (await owner()).ask('POST', 'runs', { kind: 'find', text });
  expect(status).toBe(202);
  return body;
}
const whyNot = { who: WHO, notification: 'order-paid' };

describe('A search for a person over the whole log', () => {
  it('finds the events that why-not then explains', async () => {
    const run = await started();
    const orders: RunOrder<'find'>[] = [];
    await work((order) => {
      orders.push(order);
      return result();
    });
    expect(orders).toEqual([{ texts: [WHO] }]);
    const { ask } = await owner();
    expect((await ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'done',
      sentence: '1 of 9 events holds the text.',
      find: { events: 9, found: 1, kept: 1 },
      before: null,
      counts: null,
    });
    const { status, body } = await ask('POST', 'why-not', { ...whyNot, search: run.id });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { event: eventId, gate: 'condition', looked: { events: 1, complete: true }, next: null },
    });
  });

  it('reports older matching events that were not stored', async () => {
    const run = await started();
    await work(async () => ({ ...(await result()), counts: { events: 9_000, found: 1_345 } }));
    const { ask } = await owner();
    const about = await ask('POST', 'why-not', { ...whyNot, search: run.id });
    const since = expect.stringContaining('T') as string;
    const looked = { events: 1, complete: false, not_kept: 345, since };
    expect(about.body).toMatchObject({ event: eventId, next: null, looked });
    const who = 'bob@example.com';
    const other = await started(who);
    await work(async () => ({ ...(await result()), counts: { events: 9_000, found: 1_345 } }));
    const { body } = await ask('POST', 'why-not', { ...whyNot, who, search: other.id });
    expect(body).toMatchObject({ verdict: 'no_event', looked });
    expect(body.gates[0]).toMatchObject({ gate: 'event', result: 'unknown' });
    expect(body.sentence).toContain(
      '345 older events also contain the text but are not stored. Search a span that ends at 20',
    );
    expect(body.sentence).not.toContain('No event named them');
  });

  it.each([
    {
      name: 'the time of the oldest kept event, if a later page is empty',
      kept: true,
      fix: 'Search a span that ends at 20',
    },
    { name: 'a shorter span, if the search kept no event', kept: false, fix: 'Search a shorter span to see them' },
  ])('suggests to search $name', async ({ kept, fix }) => {
    const who = 'bob@example.com';
    const run = await started(who);
    const events = kept ? [await foundEvent()] : [];
    await work(async () => ({ ...(await result()), counts: { events: 9_000, found: 1_345 }, events }));
    const paged: typeof ports.runs.events = async (id, limit, cursor) => {
      if (cursor !== undefined) return { items: [], next: null };
      const page = await ports.runs.events(id, limit, cursor);
      return { ...page, next: kept ? 'last' : null };
    };
    const control = await asking(deploymentOwner('session'), { ...ports, runs: { ...ports.runs, events: paged } });
    const question = { ...whyNot, who, search: run.id };
    const first = await control.ask('POST', 'why-not', question);
    const { next } = first.body;
    const { body } = next === null ? first : await control.ask('POST', 'why-not', { ...question, cursor: next });
    expect(body.sentence).toContain(fix);
    expect(body.sentence).not.toContain(`ends at ${body.to}`);
  });

  it('stores its text encrypted, never in audit or responses, and only until it ends', async () => {
    const secret = 'very-secret@example.com';
    const run = await started(secret);
    const { ask, log, codecs } = await owner();
    const stored = (await ports.runs.get(run.id as RunId)) as FindRun;
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(await ports.runs.text(run.id as RunId)).not.toBeNull();
    const seen: string[] = [];
    for (const path of ['runs', `runs/${run.id}`, 'jobs', `jobs/${run.job}`]) seen.push((await ask('GET', path)).text);
    await work(async () => ({ ...(await result()), counts: { events: 9, found: 0 }, events: [] }));
    for (const path of ['runs', `runs/${run.id}`, 'jobs', `jobs/${run.job}`]) seen.push((await ask('GET', path)).text);
    seen.push(JSON.stringify(await auditEntries({ log, codecs })));
    seen.push(JSON.stringify(await ports.runs.get(run.id as RunId)));
    expect(seen.join('\n')).not.toContain(secret);
    expect(await ports.runs.text(run.id as RunId)).toBeNull();
    const { textHash } = (await ports.runs.get(run.id as RunId)) as FindRun;
    expect(textHash).toBe(stored.textHash);
    expect(textHash).not.toBe('');
  });

  it.each(['waiting', 'running'] as const)('removes its text if it is cancelled while it is %s', async (state) => {
    const run = await started();
    const { ask } = await owner();
    const runner = runnerWith((_order, stop) => untilStopped(stop));
    if (state === 'running') await runner.round();
    expect(await ask('POST', `jobs/${run.job}/cancel`, {})).toMatchObject({ status: 200 });
    await runner.idle();
    await runner.round();
    expect((await ask('GET', `runs/${run.id}`)).body).toMatchObject({ state: 'cancelled' });
    expect(await ports.runs.text(run.id as RunId)).toBeNull();
    expect(await ask('POST', 'why-not', { ...whyNot, search: run.id })).toMatchObject({ status: 409 });
  });

  it('removes its text although more texts than one page belong to unfinished searches', async () => {
    const run = (await ports.runs.get((await started()).id as RunId)) as FindRun;
    await ports.runs.removeText(run.id);
    const ids = Array.from({ length: 102 }, (_, index) => `run_${String(index).padStart(3, '0')}` as RunId);
    const unfinished = ids.slice(1, -1);
    for (const id of ids) {
      await ports.runs.insert({ ...run, id, job: unfinished.includes(id) ? run.job : ('job_none' as JobId) }, []);
      await ports.runs.addText(id, 'sealed');
    }
    await removeTexts({ ...ports, clock: { now: () => ports.clock.now() + 3_600_000 } });
    const texts = await Promise.all(ids.map((id) => ports.runs.text(id)));
    expect(ids.filter((_id, index) => texts[index] !== null)).toEqual(unfinished);
  });

  it('ends with a reason if it fails, and removes its text', async () => {
    const run = await started();
    await work(() => Promise.reject(new CarillonError('no_room', 'the disk is full')));
    expect(await ports.jobs.get(run.job as JobId)).toMatchObject({ state: 'failed' });
    expect((await (await owner()).ask('GET', `runs/${run.id}`)).body).toMatchObject({
      reason: { code: 'no_room' },
    });
    expect(await ports.runs.text(run.id as RunId)).toBeNull();
  });

  it.each([
    [{}, '/text'],
    [{ text: WHO, drafts: true }, '/drafts'],
    [{ text: WHO, notifications: ['order-paid'] }, '/notifications'],
  ])('refuses %o with what is wrong', async (body, pointer) => {
    const { ask } = await owner();
    const refused = { status: 400, body: { code: 'invalid_request', pointer } };
    expect(await ask('POST', 'runs', { kind: 'find', ...body })).toMatchObject(refused);
    expect(await ask('POST', 'runs', { text: WHO })).toMatchObject({ ...refused, body: { pointer: '/text' } });
  });

  it('may be started and used by editors and operators, and by nobody else', async () => {
    const run = await started();
    await work(result);
    for (const permission of ['configure', 'operate'] as const) {
      const { ask } = await person(permission, ['read', permission]);
      expect(await ask('POST', 'why-not', { ...whyNot, search: run.id })).toMatchObject({ status: 200 });
      expect(await ask('POST', 'runs', { kind: 'find', text: WHO })).toMatchObject({ status: 202 });
    }
    const viewer = await person('vic', ['read', 'bodies']);
    expect(await viewer.ask('POST', 'runs', { kind: 'find', text: WHO })).toMatchObject({ status: 403 });
    expect(await viewer.ask('POST', 'why-not', { ...whyNot, search: run.id })).toMatchObject({ status: 403 });
    const rival = await person('rita', ['read', 'configure', 'operate'], RIVAL);
    expect(await rival.ask('POST', 'why-not', { ...whyNot, search: run.id }, 'shop')).toMatchObject({ status: 403 });
    expect(await rival.ask('GET', `runs/${run.id}`, undefined, RIVAL)).toMatchObject({ status: 404 });
    expect(await rival.ask('POST', 'why-not', { ...whyNot, search: run.id }, RIVAL)).toMatchObject({ status: 404 });
  });

  it('answers only the question that it searched for', async () => {
    const run = await started();
    const { ask } = await owner();
    const search = { ...whyNot, search: run.id };
    expect(await ask('POST', 'why-not', search)).toMatchObject({ status: 409, body: { code: 'run_unfinished' } });
    await work(result);
    const wrong = (pointer: string) => ({ status: 400, body: { pointer } });
    expect(await ask('POST', 'why-not', { ...search, who: 'bob@example.com' })).toMatchObject(wrong('/search'));
    expect(await ask('POST', 'why-not', { ...search, last: '7d' })).toMatchObject(wrong('/last'));
    expect(await ask('POST', 'why-not', { ...search, search: 'run_none' })).toMatchObject({ status: 404 });
    expect(await ask('GET', `runs/${run.id}/rows`)).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  });
});
