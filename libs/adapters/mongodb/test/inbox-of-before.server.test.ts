import type { InboxMessage } from '@carillon/ports';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { usePlayground } from './open-mongo.ts';

describeWith('mongodb', 'inbox messages that an earlier version stored', () => {
  const playground = usePlayground();

  it('are found by workspace, channel and recipient after the start, however many', async () => {
    const database = playground.database();
    await (await playground.open({ database })).close();
    const before = Array.from({ length: 600 }, (_, at): InboxMessage => ({
      id: `msg_${at}`,
      workspace: at % 2 === 0 ? 'shop' : 'lab',
      deliveryId: 'dlv_1',
      message: { channel: 'sms', to: `+49301234${at}`, text: 'Paid' },
      at,
    }));
    const rows = playground.client().db(database).collection<{ _id: string }>('inbox');
    await rows.insertMany(before.map((one) => ({ _id: one.id, at: one.at, message: JSON.stringify(one) })));
    const { inbox } = createStores((await playground.open({ database, collections: COLLECTIONS })).documents);
    expect((await inbox.list({ workspace: 'lab', channels: ['sms'] }, 500)).items).toHaveLength(300);
    expect((await inbox.list({ workspace: 'shop', to: ['+49301234598'] }, 5)).items).toEqual([before[598]]);
    expect(await rows.countDocuments({ workspace: { $exists: false } })).toBe(0);
  });
});
