import { openEmbedded } from '@carillon/adapter-embedded';
import type { Clock } from '@carillon/ports';
import type { Backing } from '@carillon/testing/topology';
import { temporaryFolder } from './temporary-folder.ts';

/** Log and stores of the embedded backend, in a folder of its own that is gone at the end: SQLite, WAL, synchronous = FULL. */
export const onSqlite =
  (partitions: number) =>
  async (clock: Clock): Promise<Backing> => {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock, partitions });
    return {
      data,
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  };
