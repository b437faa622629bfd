import { COLLECTIONS, createStores } from '@carillon/stores';
import { RELEASED } from '@carillon/testing/given';
import type { Document } from 'mongodb';
import { expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { usePlayground } from './open-mongo.ts';

describeWith('mongodb', 'document collections written by the previous release', () => {
  const playground = usePlayground();

  const rawIn = (database: string, name: string) =>
    playground.client().db(database).collection<{ _id: string } & Document>(name);

  it('are read as that release wrote them', async () => {
    const database = playground.database();
    for (const { collection, document } of RELEASED) {
      await rawIn(database, collection).insertOne({ ...document, _id: String(document['_id']) });
    }
    const stores = createStores((await playground.open({ database, collections: COLLECTIONS })).documents);
    for (const { read, item } of RELEASED) expect(await read(stores)).toEqual(item);
  });

  it('are written in the form of that release', async () => {
    const database = playground.database();
    const stores = createStores((await playground.open({ database, collections: COLLECTIONS })).documents);
    for (const { write, collection, document } of RELEASED) {
      await write(stores);
      const found = await rawIn(database, collection).findOne({ _id: String(document['_id']) });
      const { written: _, ...rest }: Document = found ?? {};
      expect(rest).toEqual(document);
    }
  });
});
