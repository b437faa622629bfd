import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryLedger, EventLog, NewRecord } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { deliveryOf, outcomeOf, type DeliveryFacts } from './delivery-samples.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

type OneStore = { readonly ledger: DeliveryLedger; readonly log: EventLog };

const TOPIC = 'carillon.outcomes';

/** A part of the contract of any ledger. */
export function outcomesOfMoves(ledger: () => DeliveryLedger, put: (facts: DeliveryFacts) => Promise<Delivery>): void {
  it('leaves the outcomes of a move to be told, unless it told them itself', async () => {
    const first = await put({});
    const next: Delivery = { ...first, version: 2, state: 'SENT', nextAt: null, unpublished: [outcomeOf(first)] };
    const [outcome] = next.unpublished;
    const record = {
      topic: 'carillon.outcomes',
      partition: 0,
      key: 'k',
      value: new TextEncoder().encode(outcome?.id),
      headers: {},
    } as const;
    const answer = await ledger().replace(next, { telling: () => [record] });
    const held = await ledger().get(first.id);
    expect(held).toEqual(answer === 'told' ? { ...next, unpublished: [] } : next);
    expect(await ledger().replace(next, { telling: () => [record] })).toBe('stale');
  });
}

/**
 * The contract of a ledger that is one store with the log: a move and the record of its outcome are both there, or
 * neither is.
 */
export function describeToldMoves(name: string, make: () => Promise<UnderTest<OneStore>>): void {
  describe(`${name} tells of a move in the commit of the move`, () => {
    const { port, faults } = freshFor(make);

    const recordOf = (text: string, partition = 0): NewRecord => ({
      topic: TOPIC,
      partition,
      key: 'k',
      value: new TextEncoder().encode(text),
      headers: { traceparent: text },
    });
    async function told(): Promise<readonly string[]> {
      const { start } = await port().log.bounds(TOPIC, 0);
      const records = await port().log.read(TOPIC, 0, start, 10_000);
      return records.map(({ value }) => new TextDecoder().decode(value));
    }
    async function waiting(): Promise<Delivery> {
      const delivery = deliveryOf();
      await port().ledger.insert([delivery]);
      return delivery;
    }
    const sent = (delivery: Delivery): Delivery => ({
      ...delivery,
      version: 2,
      state: 'SENT',
      nextAt: null,
      unpublished: [outcomeOf(delivery)],
    });

    it('with nothing left to be told', async () => {
      const next = sent(await waiting());
      const [one, two] = [freshName('one'), freshName('two')];
      expect(await port().ledger.replace(next, { telling: () => [recordOf(one), recordOf(two)] })).toBe('told');
      expect((await told()).slice(-2)).toEqual([one, two]);
      expect(await port().ledger.get(next.id)).toEqual({ ...next, unpublished: [] });
      const left = await port().ledger.unpublished(Number.MAX_SAFE_INTEGER, 10_000);
      expect(left.map(({ id }) => id)).not.toContain(next.id);
    });

    it('and wakes those who read the log', async () => {
      const next = sent(await waiting());
      const text = freshName('woken');
      const { end } = await port().log.bounds(TOPIC, 0);
      const { promise, resolve } = Promise.withResolvers<void>();
      const consumption = await port().log.consume({
        group: freshName('group'),
        topic: TOPIC,
        maxRecords: 100,
        maxBytes: 100_000,
        assigned: async (partition) => ({
          from: partition === 0 ? end : (await port().log.bounds(TOPIC, partition)).end,
          handle: async (records) => {
            if (records.some(({ value }) => new TextDecoder().decode(value) === text)) resolve();
          },
          lost: async () => undefined,
        }),
        failed: () => undefined,
      });
      await port().ledger.replace(next, { telling: () => [recordOf(text)] });
      await promise;
      await consumption.stop();
    });

    it('and of many that try the same move exactly one tells', async () => {
      const next = sent(await waiting());
      const names = Array.from({ length: 20 }, () => freshName('rival'));
      const answers = await Promise.all(
        names.map((text) => port().ledger.replace(next, { telling: () => [recordOf(text)] })),
      );
      const winners = names.filter((_text, at) => answers[at] === 'told');
      expect(winners).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'stale')).toHaveLength(19);
      expect((await told()).filter((text) => names.includes(text))).toEqual(winners);
    });

    it('and neither moves nor tells while nothing can be written', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      const next = sent(await waiting());
      const text = freshName('broken');
      await broken.breakWrites();
      await expect(port().ledger.replace(next, { telling: () => [recordOf(text)] })).rejects.toThrow();
      await broken.mendWrites();
      const moved = (await port().ledger.get(next.id))?.version === 2;
      expect((await told()).includes(text)).toBe(moved);
    });
  });
}
