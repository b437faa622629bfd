import type { Delivery } from '@carillon/domain/deliveries';
import { stringifyJson } from '@carillon/kernel';
import { deliveryOf } from '@carillon/testing';
import { expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import type { DeliveryDocument } from '../src/documents.ts';
import { usePlayground } from './open-mongo.ts';

describeWith('mongodb', 'a delivery that an early version wrote into MongoDB', () => {
  const playground = usePlayground();

  it.each([
    ['within', (whole: Delivery) => ({ $set: { body: stringifyJson(whole) }, $unset: { intent: '' } })],
    ['beside', ({ intent, ...rest }: Delivery) => ({ $set: { body: stringifyJson({ ...rest, intent: intent.id }) } })],
  ])(
    'with its intent %s is read like any other, and loses its extra copy of the message at the next state change',
    async (_where, asThen) => {
      const database = playground.database();
      const { ledger } = await playground.open({ database });
      const first = deliveryOf({ intent: { variables: { total: 9_007_199_254_740_993n, name: 'Grüße "x"' } } });
      await ledger.insert([first]);
      const documents = playground.client().db(database).collection<DeliveryDocument>('deliveries');
      await documents.updateOne({ _id: first.id }, asThen(first));
      // Lists are filtered by some of these only later.
      await documents.updateOne({ _id: first.id }, { $unset: { moving: '', rule: '', person: '', reason: '' } });
      const later = (await playground.open({ database })).ledger;
      expect(await later.get(first.id)).toEqual(first);
      const { person, rule } = first.intent;
      expect((await later.list({ person, rule, reasons: [first.reason] }, 10)).items).toEqual([first]);
      const move = async (facts: Partial<Delivery>): Promise<Delivery> => {
        const seen = await later.get(first.id);
        if (!seen) throw new Error('it is gone');
        const next = { ...seen, ...facts, version: seen.version + 1 };
        expect(await later.replace(next)).toBe('done');
        expect(await later.get(first.id)).toEqual(next);
        return next;
      };
      await move({ state: 'SENDING', nextAt: null, leaseUntil: 130 });
      const [apart] = await documents.find({ _id: first.id }).toArray();
      expect([apart?.intent, apart?.moving?.includes('Grüße')]).toEqual([stringifyJson(first.intent), false]);
      // An early version reads `body` and judges what it finds: of an intent that is only named it would say that its rule is gone.
      expect(apart).not.toHaveProperty('body');
      await move({ state: 'SENT', leaseUntil: null });
      expect((await ledger.get(first.id))?.intent).toEqual(first.intent);
    },
  );

  it('is not changed by a worker that read another message for it', async () => {
    const database = playground.database();
    const { ledger } = await playground.open({ database });
    const first = deliveryOf();
    await ledger.insert([first]);
    const documents = playground.client().db(database).collection<DeliveryDocument>('deliveries');
    // As a program would that knows nothing of versions.
    const other = deliveryOf().intent;
    await documents.updateOne({ _id: first.id }, { $set: { intent: stringifyJson(other), intentId: other.id } });
    const next = { ...first, version: 2, state: 'SENT', nextAt: null } as const;
    expect(await ledger.replace(next)).toBe('stale');
    expect(await ledger.replace(next, { together: true })).toBe('stale');
    expect(await documents.findOne({ _id: first.id })).toMatchObject({ version: 1, state: 'WAITING' });
  });
});
