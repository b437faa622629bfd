import { isCarillonError, messageOf } from '@carillon/kernel';
import type { Db, Document } from 'mongodb';
import type { Attempt } from './attempts.ts';
import type { Collections } from './collections.ts';
import { writeToken } from './compare-and-set.ts';
import { inspectSchema } from './schema/establish.ts';
import type { WantedSchema } from './schema/wanted.ts';

/** One thing that `doctor` looked at. */
export type StoreCheck = { readonly step: string; readonly ok: boolean; readonly detail: string };

const wordsOf = (error: unknown): string => (isCarillonError(error) ? error.detail : messageOf(error));

/** Looks at the database as it is now; changes nothing but a document of its own, which it takes away again. */
export async function verifyStores(
  db: Db,
  schema: WantedSchema,
  { leases }: Collections,
  attempt: Attempt,
): Promise<readonly StoreCheck[]> {
  const step = async (name: string, look: () => Promise<string>): Promise<StoreCheck> => {
    try {
      return { step: name, ok: true, detail: await look() };
    } catch (error) {
      return { step: name, ok: false, detail: wordsOf(error) };
    }
  };
  const server = await step('database', async () => serverWords(await attempt(() => db.command({ hello: 1 }))));
  if (!server.ok) return [server];
  const writes = await step('database writes', async () => {
    const _id = `doctor-${writeToken()}`;
    await attempt(() => leases.updateOne({ _id }, { $set: { holder: 'doctor', until: 0 } }, { upsert: true }));
    const found = await attempt(() => leases.findOne({ _id }));
    await attempt(() => leases.deleteOne({ _id }));
    if (found?.holder !== 'doctor')
      throw new Error('MongoDB acknowledged a write with a majority, but a majority read does not return it');
    return 'a majority acknowledges writes and shows them';
  });
  const indexes = await step('database indexes', async () => {
    const { missingCollections, missingIndexes, wrong } = await attempt(() => inspectSchema(db, schema));
    const differences = [
      ...missingCollections.map((name) => `${name} is missing`),
      ...missingIndexes.map(({ collection, index }) => `${collection} lacks index ${index.name}`),
      ...wrong,
    ];
    if (differences.length > 0) throw new Error(differences.join('; '));
    return 'as they have to be';
  });
  return [server, writes, indexes];
}

function serverWords(hello: Document): string {
  const wire = `wire version ${String(hello['maxWireVersion'])}`;
  const set: unknown = hello['setName'];
  if (typeof set === 'string') {
    const members = Array.isArray(hello['hosts']) ? hello['hosts'].length : 1;
    return `replica set ${set} of ${members}, ${wire}`;
  }
  if (hello['msg'] === 'isdbgrid') return `sharded cluster, ${wire}`;
  return `one server without a replica set, ${wire}: what it loses is lost`;
}
