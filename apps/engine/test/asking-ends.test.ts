import { readAsking, readTask, settleCall } from '@carillon/stages';
import { CarillonError } from '@carillon/kernel';
import type { EventLog, Secrets } from '@carillon/ports';
import { answersEverybody } from '@carillon/testing';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { lookupFixture } from './lookup-fixture.ts';

// Calls are counted, and some are held: none is given up, and made again, because the machine is slow.
const fixture = lookupFixture({ isPatient: true });

const events = async (count: number): Promise<void> => {
  await Promise.all(Array.from({ length: count }, (_, at) => fixture.topology().event({ watchers: [`w${at}`] })));
};
/** The task of the trigger that asks about this user id. */
async function taskAbout(userId: string) {
  const { ports, data } = fixture.topology();
  for (const { value } of await fixture.topology().records('carillon.triggers')) {
    const trigger = ports.codecs.trigger.decode(value);
    if (trigger.ok && trigger.value.userIds.includes(userId)) return data.tasks.get(trigger.value.id);
  }
  return null;
}

describe('while the log takes no answers', () => {
  /** The log of the topology; answers and dead letters are refused until `refuses` says no. */
  function refusing(refuses: () => boolean): { readonly log: EventLog; readonly tries: () => number } {
    const { log } = fixture.topology().data;
    let tries = 0;
    return {
      tries: () => tries,
      log: {
        ...log,
        append: async (records) => {
          if (!records.some(({ topic }) => topic === 'carillon.lookups' || topic === 'carillon.dead-letters'))
            return log.append(records);
          tries += 1;
          if (refuses()) throw new CarillonError('log_unavailable', 'the log is away');
          return log.append(records);
        },
      },
    };
  }

  it('makes no further calls: answers wait in memory, tasks in the store, and later every trigger is asked once', async () => {
    let away = true;
    // However long the log is refused on a busy machine: no lease runs out, and no trouble is told a second time.
    fixture.topology().clock.standStill();
    await fixture.configure({ match: undefined });
    await events(400);
    const { log, tries } = refusing(() => away);
    const engine = await fixture.start({ log });
    await untilFound('answers were refused several times', () => (tries() > 300 ? true : undefined));
    const asked = fixture.partner().calls.length;
    expect(asked).toBeLessThanOrEqual(128);
    expect(engine.troubles).toHaveLength(1);
    expect(await fixture.allLookups()).toEqual([]);
    away = false;
    fixture.topology().clock.goOn();
    expect(await fixture.intents(400)).toHaveLength(400);
    expect(fixture.partner().calls).toHaveLength(400);
    expect((await fixture.allLookups()).length).toBe(400);
  });

  it('takes up expired tasks a few at a time, and makes each a dead letter when the log is back', async () => {
    let away = true;
    fixture.partner().follow((_request, response) => void response.writeHead(500).end());
    await fixture.configure({}, {}, { expires: '1h' });
    await events(150);
    fixture.topology().clock.pass(3_600_000);
    const { log, tries } = refusing(() => away);
    await fixture.start({ log });
    await untilFound('dead letters were refused several times', () => (tries() > 200 ? true : undefined));
    const tasks = await Promise.all(Array.from({ length: 150 }, (_, at) => taskAbout(`w${at}`)));
    expect(tasks.filter((task) => task && readAsking(task).verdict).length).toBeLessThanOrEqual(64);
    away = false;
    expect(await fixture.letters(150)).toHaveLength(150);
    expect((await fixture.allLetters()).length).toBe(150);
  });
});

it('A trigger whose lease expired while it waited for its batch gets a new lease before the partner is called', async () => {
  const held: (() => void)[] = [];
  const withoutLease: string[] = [];
  const asked = (ids: readonly string[]) => Promise.all(ids.map(taskAbout));
  fixture.partner().follow(async (request, response) => {
    const tasks = await asked(request.userIds);
    const now = fixture.topology().clock.now();
    if (tasks.some((task) => (task?.leaseUntil ?? 0) <= now)) withoutLease.push(...request.userIds);
    if (held.length < 64) await new Promise<void>((resolve) => held.push(resolve));
    return answersEverybody(request, response);
  });
  await fixture.configure({ match: undefined });
  await fixture.start();
  await events(128);
  await untilFound('every place is taken', () => (held.length === 64 ? true : undefined));
  await untilFound('the others have their leases', async () => {
    const tasks = await asked(Array.from({ length: 128 }, (_, at) => `w${at}`));
    return tasks.every((task) => task?.leaseUntil !== null) || undefined;
  });
  fixture.topology().clock.pass(120_000);
  for (const go of held) go();
  await untilFound('all were asked', () => (fixture.partner().calls.length >= 128 ? true : undefined));
  expect(withoutLease).toEqual([]);
  expect(await fixture.intents(128)).toHaveLength(128);
});

it('Triggers of a call that could not start are asked once the store is back, before their lease expires', async () => {
  const { secrets } = fixture.topology().ports;
  let away = true;
  let tries = 0;
  const behind: Secrets = {
    ...secrets,
    resolve: async (workspace, name) => {
      tries += 1;
      if (away) throw new CarillonError('internal', 'the store is away');
      return secrets.resolve(workspace, name);
    },
  };
  await fixture.configure();
  const engine = await fixture.start({ secrets: behind });
  await fixture.topology().event({ watchers: ['ada'] });
  const task = await untilFound('it was given back', async () => {
    const found = await taskAbout('ada');
    return tries > 0 && found?.leaseUntil === null ? found : undefined;
  });
  expect(readAsking(task)).toMatchObject({ calls: 0, evidence: [], verdict: null });
  expect(fixture.partner().calls).toEqual([]);
  expect(String(await untilFound('it is told', () => engine.troubles[0]))).toContain('the store is away');
  away = false;
  expect(await fixture.intents(1)).toHaveLength(1);
  expect(fixture.partner().calls).toHaveLength(1);
});

it('Answers are appended while their partner is suspended, however many triggers wait before them', async () => {
  fixture.partner().follow((_request, response) => void response.writeHead(401).end());
  await fixture.configure();
  await events(200);
  const engine = await fixture.start();
  await untilFound('it is suspended', () => engine.alerts[0]);
  await untilFound('nobody is asked any more', () => (engine.openCalls() === 0 ? true : undefined));
  // Less than a suspension, and longer than any pause so far: all are due.
  fixture.topology().clock.pass(20_000);
  const answered = await untilFound('none has a lease', async () => {
    const tasks = await Promise.all(Array.from({ length: 200 }, (_, at) => taskAbout(`w${at}`)));
    return tasks.every((task) => task && task.leaseUntil === null) ? (tasks[150] ?? undefined) : undefined;
  });
  // A worker that dies before the answer is on the log.
  const { ports, data } = fixture.topology();
  const dies = { ...data.log, append: () => Promise.reject(new Error('dead')) };
  const now = ports.clock.now();
  const answer = { kind: 'answered', status: 200, items: [] } as const;
  const call = { callId: 'req_1', startedAt: now, endedAt: now, answer, toEverybody: false };
  const settled = settleCall([readTask(answered)], call, fixture.crm(), { ...ports, log: dies });
  await expect(settled).rejects.toThrow('dead');
  const [lookup] = await fixture.lookups(1);
  expect(lookup?.trigger.userIds).toEqual(['w150']);
});
