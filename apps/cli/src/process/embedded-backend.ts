import { statfs } from 'node:fs/promises';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { checkSteps, type Check } from '@carillon/control';
import { isCarillonError, messageOf } from '@carillon/kernel';
import { CommandError } from '../failure.ts';
import type { Backend, BackendOptions } from './backend.ts';

/** Opens the data folder of this machine, for this process alone. */
export async function openEmbeddedBackend({ settings, clock, holder }: BackendOptions): Promise<Backend> {
  const { dataDir } = settings;
  const data = await openFolder(dataDir, () => openEmbedded({ dataDir, clock, holder }));
  return {
    ...data,
    kind: 'embedded',
    place: `embedded, data in ${dataDir}`,
    alone: true,
    readiness: () => [],
    checks: () => checkSteps('data file', () => diskChecks(dataDir, data)),
    backup: (file) => data.backup(file),
    async applyRetention(now) {
      await data.applyRetention(now);
    },
    close: () => data.close(),
  };
}

/** What the file system refuses is said with the folder and the setting that names another one. */
async function openFolder(dataDir: string, open: () => Promise<Embedded>): Promise<Embedded> {
  try {
    return await open();
  } catch (error) {
    if (isCarillonError(error)) throw error;
    throw new CommandError(
      `cannot use the data folder ${dataDir} (--data-dir, CARILLON_DATA_DIR): ${messageOf(error)}`,
    );
  }
}

const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;
/** Less free disk than this is worth a word. */
const LEAST_FREE = 512 * MIB;

async function diskChecks(dataDir: string, data: Embedded): Promise<Check[]> {
  const { fileBytes, walBytes } = data.stats();
  const disk = await statfs(dataDir);
  const free = disk.bavail * disk.bsize;
  return [
    { step: 'data file', ok: true, detail: `${mib(fileBytes)}, write-ahead log ${mib(walBytes)}, in ${dataDir}` },
    { step: 'free disk', ok: free >= LEAST_FREE, detail: `${mib(free)} free` },
  ];
}
