import type { ServerResponse } from 'node:http';
import { readAsking } from '@carillon/stages';
import { answersEverybody, startScriptedPartner, type PartnerScript } from '@carillon/testing';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { lookupFixture } from './lookup-fixture.ts';

const fixture = lookupFixture();
const HOUR = 3_600_000;
const TRIGGERS = 10_000;

/** Watchers w1 to wN, one event each. */
const events = async (count: number, stem = 'w'): Promise<void> => {
  await Promise.all(Array.from({ length: count }, (_, at) => fixture.topology().event({ watchers: [`${stem}${at}`] })));
};

describe('calls to one partner', () => {
  it('run sixty-four at a time, one per trigger that cannot share', async () => {
    const waiting: (() => void)[] = [];
    let answered = 0;
    // Answers only while sixty-four wait, or at the end: had the engine ever fewer open, this would stand still for ever.
    fixture.partner().follow(async (request, response) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        const left = TRIGGERS - answered;
        const some = left <= 64 ? waiting.splice(0) : waiting.length === 64 ? waiting.splice(0, 16) : [];
        answered += some.length;
        for (const one of some) setTimeout(one, Math.floor(Math.random() * 6));
      });
      return answersEverybody(request, response);
    });
    await fixture.configure({ match: undefined, timeouts: { total: '30s' } });
    await fixture.start();
    for (let from = 0; from < TRIGGERS; from += 500) await events(500, `w${from}-`);
    await untilFound('every call is answered', () => (answered >= TRIGGERS ? true : undefined), 580_000);
    expect(fixture.partner().mostOpen()).toBe(64);
  }, 600_000);

  it('are shared if items can be attributed: equal ids once, and no trigger joins a call that was sent', async () => {
    const held: (() => void)[] = [];
    fixture.partner().follow(async (request, response) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return answersEverybody(request, response);
    });
    await fixture.configure();
    // Of five events over two partitions three are read at once; of their triggers, again over two, two are.
    const ids = ['ada', 'bob', 'cleo', 'dora', 'ada'];
    await Promise.all(ids.map((id) => fixture.topology().event({ watchers: [id, 'eve'] })));
    const engine = await fixture.start();
    const isAsked = (id: string): boolean => fixture.partner().calls.some(({ userIds }) => userIds.includes(id));
    await untilFound('all are asked about', () => ids.every(isAsked) || undefined);
    await fixture.topology().event({ watchers: ['late'] });
    await untilFound(
      'the late one has a call of its own',
      () => fixture.partner().calls.some(({ userIds }) => userIds.join() === 'late') || undefined,
    );
    for (const go of held) go();
    await fixture.intents(11);
    const asked = fixture.partner().calls.map(({ userIds }) => userIds);
    for (const some of asked) expect(new Set(some).size).toBe(some.length);
    expect(asked.length).toBeLessThan(6);
    expect((await fixture.lookups(6)).some(({ sharedBy }) => sharedBy > 1)).toBe(true);
    expect(engine.troubles).toEqual([]);
  });

  it('are repeated one by one if a shared answer cannot be attributed or is refused', async () => {
    fixture.partner().follow(({ userIds }, response) => {
      if (userIds.includes('poison')) return void response.writeHead(400).end();
      if (userIds.length > 1) return userIds.map((id) => ({ to: { email: `${id}@example.com` }, variables: {} }));
      return userIds.map((id) => ({ to: { email: `${id}@example.com` }, variables: { user_id: id } }));
    });
    await fixture.configure();
    await fixture.start();
    await Promise.all(['a', 'b', 'poison'].map((id) => fixture.topology().event({ watchers: [id] })));
    const made = await fixture.intents(2);
    expect(made.map(({ person }) => person).toSorted()).toEqual(['a', 'b']);
    expect(await fixture.letters(1)).toMatchObject([{ reason: 'partner_refused' }]);
    expect((await fixture.lookups(2)).every(({ sharedBy }) => sharedBy === 1)).toBe(true);
  });
});

describe('a partner that refuses everything', () => {
  it.each([
    ['404', 'partner_refused', (_: unknown, response: ServerResponse) => void response.writeHead(404).end()],
    ['an answer that is none', 'partner_answer_invalid', () => ({ message: 'no such route' })],
  ])('with %s gets a few calls for many triggers, not one per trigger', async (_what, reason, script) => {
    fixture.partner().follow(script);
    await fixture.configure();
    await events(200);
    await fixture.start();
    const letters = await fixture.letters(200);
    expect(new Set(letters.map((letter) => letter.reason))).toEqual(new Set([reason]));
    expect(fixture.partner().calls.length).toBeLessThan(40);
    fixture.partner().follow(answersEverybody);
    await events(20, 'later');
    expect(await fixture.intents(20)).toHaveLength(20);
  });

  /** Answers 404 to any call that asks about somebody it does not know. */
  const knowsOnlyTheGood: PartnerScript = (request, response) => {
    if (request.userIds.some((id) => id.startsWith('bad'))) return void response.writeHead(404).end();
    return answersEverybody(request, response);
  };

  it.each([4, 20, 30])(
    'is told apart from one that accepts some: after %i unknown ids all other people are notified',
    async (bad) => {
      fixture.partner().follow(knowsOnlyTheGood);
      await fixture.configure();
      await events(bad, 'bad');
      await events(60, 'good');
      await fixture.start();
      expect(await fixture.letters(bad)).toHaveLength(bad);
      expect(await fixture.intents(60)).toHaveLength(60);
      expect(await fixture.allLetters()).toHaveLength(bad);
    },
  );
});

describe('a partner in trouble', () => {
  it('that is slow delays only its own triggers', async () => {
    const slow = await startScriptedPartner();
    slow.follow(() => undefined);
    await fixture.configure();
    await fixture.configureBeside('slow', slow, { timeouts: { total: '30s' } });
    const engine = await fixture.start();
    await events(300);
    const made = await fixture.intents(300);
    expect(new Set(made.map(({ notification: name }) => name))).toEqual(new Set(['order-paid']));
    await untilFound('the slow one is asked too', () => slow.calls[0]);
    await fixture.stop(engine);
    await slow.stop();
  });

  it('that was down for two hours is retried until it answers, while its triggers wait in the store', async () => {
    fixture.partner().follow((_request, response) => void response.destroy());
    await fixture.configure({ match: undefined });
    const engine = await fixture.start();
    await events(200);
    await untilFound('the breaker opens', () => engine.alerts.find((one) => one.includes('called less')));
    await untilFound('that is told', () => (engine.states.includes('shop/crm failing') ? true : undefined));
    const calls = fixture.partner().calls.length;
    expect(calls).toBeLessThan(200);
    fixture.topology().clock.pass(2 * HOUR);
    fixture.partner().follow(answersEverybody);
    expect(await fixture.intents(200)).toHaveLength(200);
    expect(await fixture.allLetters()).toEqual([]);
  });

  it('that never recovers: its triggers become dead letters at their deadline, and a redrive calls again', async () => {
    fixture.partner().follow((_request, response) => void response.writeHead(401).end());
    await fixture.configure({}, {}, { expires: '1h' });
    await fixture.start();
    await fixture.topology().event({ watchers: ['ada'] });
    await untilFound('it was asked', () => fixture.partner().calls[0]);
    fixture.topology().clock.pass(HOUR);
    const [letter] = await fixture.letters(1);
    expect(letter).toMatchObject({ reason: 'not_after_passed', detail: expect.stringContaining('401') as string });
    fixture.partner().follow(answersEverybody);
    const redriven = (redrive: string) => {
      const { topic, partition, key, value, headers } = letter!;
      return { topic: topic as 'carillon.triggers', partition, key, value, headers: { ...headers, redrive } };
    };
    fixture.topology().clock.pass(120_000);
    await fixture.topology().data.log.append([redriven('first'), redriven('first')]);
    const [made] = await fixture.intents(1);
    expect((made?.notAfter ?? 0) - fixture.topology().clock.now()).toBeGreaterThan(HOUR - 60_000);
    const calls = fixture.partner().calls.length;
    await fixture.topology().data.log.append([redriven('second')]);
    await fixture.topology().event({ watchers: ['bob'] });
    await fixture.intents(2);
    expect(fixture.partner().calls.length).toBe(calls + 1);
  });
});

describe('keys', () => {
  it('a refused key suspends the integration with one probe a minute and one alert, until it is accepted again', async () => {
    fixture.partner().follow((_request, response) => void response.writeHead(403).end());
    await fixture.configure({ match: undefined });
    const engine = await fixture.start();
    await events(30);
    await untilFound('it is suspended', () => engine.alerts[0]);
    await untilFound('that is told', () => engine.states[0]);
    await untilFound('the calls that were open are over', () => (engine.openCalls() === 0 ? true : undefined));
    const before = fixture.partner().calls.length;
    fixture.topology().clock.pass(61_000);
    await untilFound('one probe', () => (fixture.partner().calls.length > before ? true : undefined));
    await untilFound('it is over', () => (engine.openCalls() === 0 ? true : undefined));
    expect(fixture.partner().calls.length).toBe(before + 1);
    expect(engine.alerts.filter((one) => one.startsWith('shop/crm suspended'))).toHaveLength(1);
    fixture.partner().follow(answersEverybody);
    fixture.topology().clock.pass(61_000);
    expect(engine.states).toEqual(['shop/crm suspended']);
    expect(await fixture.intents(30)).toHaveLength(30);
    await untilFound('that it is over is told', () => (engine.states.length > 1 ? true : undefined));
    expect(engine.states).toEqual(['shop/crm suspended', 'shop/crm called']);
  });

  it('the second key is used if the first is refused, and stays in use', async () => {
    fixture
      .partner()
      .follow((request, response) =>
        request.headers['authorization'] === 'Basic key-2'
          ? answersEverybody(request, response)
          : void response.writeHead(401).end(),
      );
    const authorization = { scheme: 'Basic', key: { secret: 'CRM_KEY' }, second_key: { secret: 'CRM_NEXT' } } as const;
    await fixture.configure({ authorization });
    const engine = await fixture.start();
    await fixture.topology().event({ watchers: ['ada'] });
    await fixture.intents(1);
    await fixture.topology().event({ watchers: ['bob'] });
    await fixture.intents(2);
    expect(fixture.partner().calls.map(({ headers }) => headers['authorization'])).toEqual([
      'Basic key-1',
      'Basic key-2',
      'Basic key-2',
    ]);
    expect(engine.alerts).toEqual(['shop/crm key CRM_KEY is refused and key CRM_NEXT works: finish the rotation']);
  });

  it('are reported by name when refused, once per change', async () => {
    let taken = 'key-2';
    fixture
      .partner()
      .follow((request, response) =>
        request.headers['authorization'] === `Bearer ${taken}`
          ? answersEverybody(request, response)
          : void response.writeHead(401).end(),
      );
    const authorization = { key: { secret: 'CRM_KEY' }, second_key: { secret: 'CRM_NEXT' } } as const;
    // A call for each, so that several find out at once.
    await fixture.configure({ authorization, match: undefined });
    const engine = await fixture.start();
    await events(3);
    await fixture.intents(3);
    // The rotation was taken back.
    taken = 'key-1';
    await events(3, 'again');
    await fixture.intents(6);
    expect(engine.alerts).toEqual([
      'shop/crm key CRM_KEY is refused and key CRM_NEXT works: finish the rotation',
      'shop/crm key CRM_NEXT is refused and key CRM_KEY works: finish the rotation',
    ]);
  });

  it('a missing key suspends the integration too, and the evidence names it', async () => {
    await fixture.configure({ authorization: { key: { secret: 'NOWHERE' } } });
    const engine = await fixture.start();
    await fixture.topology().event({ watchers: ['ada'] });
    await untilFound('it is suspended', () => engine.alerts.find((one) => one.includes('the secret NOWHERE')));
    expect(fixture.partner().calls).toEqual([]);
    const [record] = await fixture.topology().records('carillon.triggers');
    const trigger = record && fixture.topology().ports.codecs.trigger.decode(record.value);
    const told = await untilFound('the evidence is there', async () => {
      const task = trigger?.ok ? await fixture.topology().data.tasks.get(trigger.value.id) : null;
      return task && readAsking(task).evidence[0];
    });
    expect(told?.detail).toContain('NOWHERE');
  });
});

it('a list of 1,200 ids becomes three triggers, three calls and three answers', async () => {
  await fixture.configure();
  await fixture.start();
  await fixture.topology().event({ watchers: Array.from({ length: 1200 }, (_, at) => `u${at}`) });
  expect(await fixture.intents(1200)).toHaveLength(1200);
  const lookups = await fixture.lookups(3);
  expect(lookups.map(({ trigger }) => `${trigger.part}/${trigger.parts} ${trigger.userIds.length}`).toSorted()).toEqual(
    ['0/3 500', '1/3 500', '2/3 200'],
  );
  expect(
    fixture
      .partner()
      .calls.map(({ userIds }) => userIds.length)
      .toSorted((a, b) => a - b),
  ).toEqual([200, 500, 500]);
});
