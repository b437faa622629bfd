import { createByteBudget } from '@carillon/kernel';
import { startScriptedPartner, type PartnerScript } from '@carillon/testing';
import { readAsking } from '@carillon/stages';
import { untilFound } from '@carillon/testing/topology';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookupFixture } from './lookup-fixture.ts';

const MiB = 1024 * 1024;

describe('a partner whose answers are large and never end', () => {
  const fixture = lookupFixture();

  /** As large as an answer may be, and then nothing: held until the call is given up. */
  const endless: PartnerScript = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(' '.repeat(MiB));
  };

  it('uses up only its own share of memory: other partners are answered, and it is retried later with the reason stored', async () => {
    const greedy = await startScriptedPartner();
    greedy.follow(endless);
    await fixture.configure();
    await fixture.configureBeside('greedy', greedy, { timeouts: { total: '30s' }, match: undefined });
    const engine = await fixture.start();
    for (let at = 0; at < 100; at += 1) await fixture.topology().event({ watchers: [`w${at}`] });
    await untilFound('its answers have filled its share', () =>
      engine.outcomes.includes('no_room') ? true : undefined,
    );
    await fixture.topology().event({ watchers: ['ada'] });
    const made = await fixture.intents(101);
    expect(new Set(made.map(({ notification }) => notification))).toEqual(new Set(['order-paid']));

    const { ports, data } = fixture.topology();
    const told = await untilFound('one that found no room waits', async () => {
      for (const { value } of await fixture.topology().records('carillon.triggers')) {
        const trigger = ports.codecs.trigger.decode(value);
        const task = trigger.ok ? await data.tasks.get(trigger.value.id) : null;
        const [first] = task && !task.done ? readAsking(task).evidence : [];
        if (task && first && task.leaseUntil === null) return { first, nextAt: task.nextAt };
      }
      return undefined;
    });
    expect(told.first).toMatchObject({ outcome: 'no_room', detail: expect.stringContaining('being read') as string });
    expect(told.nextAt).toBeGreaterThan(told.first.at + told.first.took);
    await fixture.stop(engine);
    await greedy.stop();
  });
});

describe('a budget of bytes that is shared', () => {
  it('always has room for a new holder, however much others take, and is whole again after all are closed', () => {
    const works = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 7 * MiB })));
    fc.assert(
      fc.property(works, (all) => {
        const budget = createByteBudget(64 * MiB, { shared: true });
        const open = all.map(([holder, bytes]) => {
          const work = budget.open(String(holder));
          work.take(bytes);
          return work;
        });
        const stranger = budget.open('stranger');
        expect(stranger.take(1024)).toBe(true);
        for (const work of [...open, stranger]) work.close();
        expect(budget.held()).toBe(0);
        expect(budget.open('anybody').take(8 * MiB)).toBe(true);
      }),
    );
  });

  it('gives each holder at most an eighth', () => {
    const budget = createByteBudget(64, { shared: true });
    const [one, another] = [budget.open('a'), budget.open('a')];
    expect([one.take(5), another.take(3), another.take(1), budget.open('b').take(8)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    one.close();
    expect(another.take(5)).toBe(true);
  });
});
