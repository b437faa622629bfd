import { join } from 'node:path';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { COLLECTIONS, createSourceStore } from '@carillon/stores';
import { storedSourceOf } from '@carillon/testing';
import { MORNING } from '@carillon/testing/given';
import { afterAll, describe, expect, it } from 'vitest';
import { openEmbedded, restoreBackup, type Embedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const at = (name: string): string => join(folder.path, name);

const open = (name: string) => openEmbedded({ dataDir: at(name), clock: wallClock, collections: COLLECTIONS });
const sourcesOf = ({ documents, writeWithRecords }: Embedded) => createSourceStore(documents, writeWithRecords);
const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
const inBackup = storedSourceOf();
const made = storedSourceOf({ integration: 'made-db' });
const names = { ...made.position!, publicationOid: 0, lsn: '0/0' };
const moved = storedSourceOf({ integration: 'moved-db' });
const otherSlot = { ...moved.position!, slot: 'carillon_other' };
const slotAhead = { kind: 'stopped', reason: 'slot_ahead', detail: null, fix: null } as const;
const ref = { workspace: 'shop', integration: 'shop-db' };

describe('a restored backup of a folder that reads databases', () => {
  it('keeps the read position that matches its log, and drops reset requests', async () => {
    const data = await open('data');
    await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
    const sources = sourcesOf(data);
    await sources.advance(inBackup, []);
    await sources.requestReset(ref, 1, { by: OWNER_ACTOR, reason: 'r', at: 1, from: inBackup.position, gone: false });
    await sources.advance({ ...made, position: names }, []);
    await sources.advance(moved, []);
    await data.backup(at('copy.backup'));
    const read = { ...inBackup, version: 3, position: { ...storedSourceOf().position!, lsn: '0/2948580' } };
    await sources.advance(read, []);
    await sources.advance(storedSourceOf({ integration: 'stock-db' }), []);
    await sources.advance({ ...made, version: 2 }, []);
    await sources.advance({ ...moved, version: 2, position: otherSlot }, []);
    await sources.advance(storedSourceOf({ integration: 'new-db', position: null }), []);
    await data.close();

    await restoreBackup(at('copy.backup'), at('alone'), { moment, collections: COLLECTIONS, readers: [] });
    const alone = await open('alone');
    // The slot of a source with names only may have been made and read since the backup.
    expect(await sourcesOf(alone).list()).toEqual([
      { ...made, version: 2, position: names, state: slotAhead },
      moved,
      { ...inBackup, version: 3 },
    ]);
    await alone.close();
  });

  it('stops sources whose replication slot only the newer folder knows', async () => {
    await restoreBackup(at('copy.backup'), at('newer'), {
      moment,
      collections: COLLECTIONS,
      readers: [],
      newer: at('data'),
    });
    const restored = await open('newer');
    expect(await sourcesOf(restored).list()).toEqual([
      { ...made, version: 2, state: slotAhead },
      { ...moved, version: 2, position: otherSlot, state: slotAhead },
      { ...inBackup, version: 3 },
      storedSourceOf({ integration: 'stock-db', state: slotAhead }),
    ]);
    await restored.close();
  });
});
