import type { Role } from '@carillon/domain/people';
import type { CompareRun } from '@carillon/domain/runs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControlPorts } from '../src/index.ts';
import { createJobRunner } from '../src/jobs/runner.ts';
import { markEvaluated, takeCustody } from './custody.ts';
import { openMissingFixture, withIds, type MissingFixture } from './missing-fixture.ts';
import { openPeople, type Browser, type PeopleFixture } from './people-fixture.ts';

let fixture: MissingFixture;
let people: PeopleFixture;
let run: CompareRun;
beforeEach(async () => {
  fixture = await openMissingFixture();
  for (const id of ['a', 'b', 'c']) await fixture.order(id, 90);
  run = await fixture.compare(withIds('old'));
  await fixture.publish(withIds('old'));
  const { secrets: _secrets, ...ports } = fixture.ports();
  people = await openPeople(ports);
});
afterEach(async () => {
  await people.control.close();
  await fixture.topology.close();
});

const path = (action: 'missing' | 'send'): string => `/v1/workspaces/shop/runs/${run.id}/${action}`;

/** Adds an operator and signs them in. */
async function operator(email: string) {
  const id = await people.addPerson(email, { shop: 'operator' });
  return { id, browser: await people.signedIn(email) };
}

/** Looks at the missing messages and returns what a person confirms. */
async function confirmedBy(browser: Browser) {
  const { status, body } = await browser.call('GET', path('missing'));
  expect(status, JSON.stringify(body)).toBe(200);
  return { count: body['count'], checksum: body['checksum'], since: body['since'], rate: 1000 };
}

const changeRole = (id: string, role: Role | null) =>
  people.directory.changePerson(id, (person) => ({
    ...person,
    memberships: role === null ? [] : [{ workspace: 'shop', role }],
  }));

/** Lets two processes work on the jobs at once. */
async function work(): Promise<void> {
  await markEvaluated(fixture.topology);
  const ports = {
    ...fixture.ports(),
    people: people.people,
    watch: { trouble: (_where: string, error: unknown) => expect.fail(String(error)) },
    runChild: { known: async () => [], forget: async () => undefined } as unknown as ControlPorts['runChild'],
  } as unknown as ControlPorts;
  const runners = ['one', 'two'].map((holder) => createJobRunner(ports, holder));
  await Promise.all(runners.map((each) => each.round()));
  await Promise.all(runners.map((each) => each.idle()));
}
const jobs = async () => (await fixture.ports().jobs.list({ actions: ['send_missing'] }, 10)).items;
const intents = () => fixture.topology.records('carillon.intents');

describe('Missing messages that are confirmed twice at once', () => {
  it.each([
    { who: 'one person in two windows', emails: ['ada@example.com'] },
    { who: 'two people', emails: ['ada@example.com', 'bob@example.com'] },
  ])('by $who are sent by one job, and each item of the other is a conflict', async ({ emails }) => {
    const [first, second = first] = await Promise.all(emails.map(operator));
    if (!first || !second) throw new Error('nobody is signed in');
    const windows = [first.browser, second.browser];
    const seen = await Promise.all(windows.map(confirmedBy));
    const answers = await Promise.all(windows.map((each, index) => each.call('POST', path('send'), seen[index])));
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    for (let rounds = 0; rounds < 2; rounds += 1) {
      await work();
      await takeCustody(fixture.topology);
    }
    expect(await intents()).toHaveLength(3);
    expect(await fixture.ports().ledger.countByState()).toEqual({ WAITING: 3 });
    const ended = (await jobs()).toSorted((a, b) => a.failures.length - b.failures.length);
    expect(ended.map(({ state, failures }) => ({ state, codes: failures.map(({ code }) => code) }))).toEqual([
      { state: 'done', codes: [] },
      { state: 'failed', codes: ['conflict', 'conflict', 'conflict'] },
    ]);
    expect(new Set(ended.map(({ by }) => by.id))).toEqual(new Set([first.id, second.id]));
  });
});

describe('A person who looked at missing messages and then lost the role', () => {
  it.each([
    { loss: 'becomes a viewer', role: 'viewer' as const },
    { loss: 'leaves the workspace', role: null },
  ])('and $loss, is refused in the same session, and nothing is sent', async ({ role }) => {
    const { id, browser } = await operator('ada@example.com');
    const seen = await confirmedBy(browser);
    await changeRole(id, role);
    const { status, body } = await browser.call('POST', path('send'), seen);
    expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    await work();
    expect(await jobs()).toEqual([]);
    expect(await intents()).toEqual([]);
    await changeRole(id, 'operator');
    expect((await browser.call('POST', path('send'), seen)).status).toBe(202);
  });

  it('after sending, has the job ended by rights_lost before it sends', async () => {
    const { id, browser } = await operator('ada@example.com');
    expect((await browser.call('POST', path('send'), await confirmedBy(browser))).status).toBe(202);
    await changeRole(id, 'viewer');
    await work();
    expect(await jobs()).toMatchObject([{ state: 'cancelled', cancelledBecause: 'rights_lost' }]);
    expect(await intents()).toEqual([]);
  });
});
