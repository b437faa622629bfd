import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { RunId } from '@carillon/kernel';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { allPages } from '@carillon/testing';
import { RELEASED } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

async function withStores(work: (stores: ReturnType<typeof createStores>) => Promise<void>): Promise<void> {
  const data = await openEmbedded({ dataDir: folder.path, clock: wallClock, collections: COLLECTIONS });
  await work(createStores(data.documents));
  await data.close();
}
const inFile = <Value>(work: (db: DatabaseSync) => Value): Value => {
  const db = new DatabaseSync(join(folder.path, 'carillon.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
};

describe('document tables written by the previous release', () => {
  it('are read as that release wrote them', async () => {
    await withStores(async () => undefined);
    inFile((db) => {
      for (const { table, row } of RELEASED) {
        const marks = Object.keys(row).map(() => '?');
        const insert = `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${marks.join(', ')})`;
        db.prepare(insert).run(...(Object.values(row) as SQLInputValue[]));
      }
    });
    await withStores(async (stores) => {
      for (const { read, item } of RELEASED) expect(await read(stores)).toEqual(item);
    });
  });

  it('are written in the form of that release', async () => {
    await withStores(async (stores) => {
      for (const { write } of RELEASED) await write(stores);
    });
    for (const { table, row } of RELEASED) {
      const rows = inFile((db) => db.prepare(`SELECT ${Object.keys(row).join(', ')} FROM ${table}`).all());
      expect(rows.map((found) => ({ ...found }))).toContainEqual(row);
    }
  });

  it('get missing columns, and keep their rows', async () => {
    await withStores(async () => undefined);
    const ref = { kind: 'notification', workspace: 'shop', name: 'order-paid' };
    const change = { ref, based_on: 3, body: null, revision: 'rev_1' };
    const run = { id: 'run_1', version: 1, kind: 'compare', workspace: 'shop', createdAt: 1, changes: [change] };
    inFile((db) => {
      db.exec('ALTER TABLE runs DROP COLUMN edit');
      const insert = 'INSERT INTO runs (id, version, workspace, created_at, document) VALUES (?, ?, ?, ?, ?)';
      db.prepare(insert).run('run_1', 1, 'shop', 1, JSON.stringify(run));
    });
    await withStores(async ({ runs }) => {
      const read = { ...run, changes: [{ ref, action: 'delete', revision: 'rev_1' }] };
      expect(await runs.get('run_1' as RunId)).toEqual(read);
      expect((await runs.list('shop', 10)).items).toEqual([read]);
      expect(await runs.edit('run_1' as RunId)).toEqual([{ ref, based_on: 3, body: null }]);
    });
  });

  it('list people by their first statement, newest first, in one workspace and in all', async () => {
    await withStores(async ({ consents }) => {
      const document = { version: 1, words: [], unpublished: [], updatedAt: 1 } as const;
      for (const [workspace, person] of [
        ['shop', 'b'],
        ['lab', 'c'],
        ['shop', 'a'],
      ] as const)
        await consents.replace({ ...document, workspace, person });
      await consents.replace({ ...document, workspace: 'shop', person: 'b', version: 2 });
      for (const [workspace, persons] of [
        ['shop', ['a', 'b']],
        [undefined, ['a', 'c', 'b']],
      ] as const) {
        const listed = await allPages(
          (cursor) => consents.list(workspace, 1, cursor),
          async () => undefined,
        );
        expect(listed.map(({ person }) => person)).toEqual(persons);
      }
    });
  });
});
