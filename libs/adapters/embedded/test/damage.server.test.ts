import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCarillonError } from '@carillon/kernel';
import { logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataFiles } from '../src/data-folder.ts';
import { mendFolder, openEmbedded, restoreBackup, type Embedded, type EmbeddedOptions } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const PAGE = 4096;

let folder = temporaryFolder();
let opened: Embedded[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  folder.remove();
});

async function open(dataDir: string, more: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await openEmbedded({ dataDir, clock: wallClock, ...more });
  opened.push(embedded);
  return embedded;
}
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'not refused',
    (error: unknown) => (isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error)),
  );

/** A folder that was stopped in order, with so many records in it. */
async function filled(records: number): Promise<string> {
  const dataDir = join(folder.path, 'data');
  const embedded = await open(dataDir);
  for (let at = 0; at < records; at += 50) {
    await embedded.log.append(Array.from({ length: 50 }, (_, n) => logRecord(`${at + n} ${'x'.repeat(500)}`)));
  }
  await embedded.close();
  return dataDir;
}

/** A folder as a process leaves it that is killed, with records that only the write-ahead log has. */
async function killed(): Promise<string> {
  const dataDir = join(folder.path, 'running');
  const embedded = await open(dataDir);
  for (let at = 0; at < 30; at += 1) await embedded.log.append([logRecord(`record ${at}`)]);
  const copy = join(folder.path, 'killed');
  cpSync(dataDir, copy, { recursive: true });
  // It says which file the process had; this one is a copy.
  rmSync(dataFiles(copy).holder);
  await embedded.close();
  return copy;
}

const overwrite = (file: string, at: number, bytes: number, value = 0): void => {
  const handle = openSync(file, 'r+');
  writeSync(handle, new Uint8Array(bytes).fill(value), 0, bytes, at);
  closeSync(handle);
};
/** Pages in the midst of the file, where records are. */
const damagePages = (dataDir: string): void => {
  const { database } = dataFiles(dataDir);
  const pages = statSync(database).size / PAGE;
  overwrite(database, Math.floor(pages / 2) * PAGE, Math.floor(pages / 4) * PAGE);
};
const stopNotClean = (dataDir: string): void => writeFileSync(`${dataFiles(dataDir).database}-wal`, '');

describe('A data file with damaged pages', () => {
  it('is refused after an unclean stop, with its own error and how to recover', async () => {
    const dataDir = await filled(1000);
    damagePages(dataDir);
    stopNotClean(dataDir);
    const said = await refusal(open(dataDir));
    expect(said).toMatch(/^data_damaged: the data file in .*data is damaged \(.*restore FILE --data-dir NEW$/s);
    // The next start looks again, although this one ended in order.
    expect(await refusal(open(dataDir))).toMatch(/^data_damaged/);
    expect(mendFolder(dataDir, false, 1)).toMatchObject({ logCanBeCut: false, dropped: null });
    expect(mendFolder(dataDir, false, 1).damages.length).toBeGreaterThan(0);
  });

  it('is detected by a check of all pages; then every read and write is refused with the reason', async () => {
    const dataDir = await filled(1000);
    damagePages(dataDir);
    const embedded = await open(dataDir);
    expect(embedded.health()).toEqual({ pages: { kind: 'never looked at' }, damaged: null, failing: null });
    expect(await embedded.lookAtPages(60_000)).toMatchObject({ kind: 'damaged' });
    expect(embedded.health().damaged).toContain('restore FILE --data-dir NEW');
    const appending = await refusal(embedded.log.append([logRecord('more')]));
    expect(appending).toMatch(/^log_unavailable: the data file in .* is damaged/);
    expect(appending).not.toContain('by itself');
    expect(await refusal(embedded.log.bounds('carillon.events', 0))).toMatch(/^log_unavailable: .* is damaged/);
    await embedded.close();
    expect(await refusal(open(dataDir))).toMatch(/^data_damaged/);
  });

  it('is detected by the first read of a damaged page', async () => {
    const dataDir = await filled(1000);
    damagePages(dataDir);
    const embedded = await open(dataDir);
    expect(await refusal(embedded.log.read('carillon.events', 0, 0, 10_000, 64_000_000))).toMatch(
      /^log_unavailable: the data file in .* is damaged/,
    );
    expect(embedded.health().damaged).not.toBeNull();
    expect(await refusal(embedded.log.append([logRecord('more')]))).toMatch(/is damaged/);
  });

  it('is checked in the background if that takes longer than a start may wait', async () => {
    const dataDir = await filled(1000);
    stopNotClean(dataDir);
    const embedded = await open(dataDir, { pageCheckPatience: 0 });
    expect(embedded.health().pages.kind).toBe('being looked at');
    await embedded.log.append([logRecord('meanwhile')]);
    expect(await embedded.lookAtPages(60_000)).toMatchObject({ kind: 'whole' });
  });

  it('is found intact after a plain kill of the process', async () => {
    const embedded = await open(await killed());
    expect(embedded.health()).toMatchObject({ pages: { kind: 'whole' }, damaged: null });
  });
});

describe('A truncated data file', () => {
  it.each([1, 99, 100, 5000, PAGE * 3, 0.5, 0.98])(
    'of %d bytes, or of that share, is reported as damaged and not as another version',
    async (size) => {
      const dataDir = await filled(200);
      const { database } = dataFiles(dataDir);
      truncateSync(database, size < 1 ? Math.floor(statSync(database).size * size) : size);
      expect(await refusal(open(dataDir))).toMatch(/^data_damaged: .* cut short: .*restore FILE --data-dir NEW$/s);
    },
  );

  it('of no bytes is damaged if the folder has keys of a deployment, and otherwise is created anew', async () => {
    const dataDir = await filled(50);
    const { database, keys } = dataFiles(dataDir);
    truncateSync(database, 0);
    cpSync(join(import.meta.dirname, 'open-embedded.ts'), join(keys, 'ledger.key'));
    expect(await refusal(open(dataDir))).toMatch(/^data_damaged: .*is empty/);
    rmSync(keys, { recursive: true });
    expect(await refusal(open(dataDir))).toBe('not refused');
  });

  it('with an overwritten header is damaged', async () => {
    const dataDir = await filled(50);
    overwrite(dataFiles(dataDir).database, 0, 16);
    expect(await refusal(open(dataDir))).toMatch(/^data_damaged/);
  });
});

describe('A damaged write-ahead log', () => {
  const damageLog = (dataDir: string): void =>
    overwrite(`${dataFiles(dataDir).database}-wal`, 32 + 10 * (24 + PAGE) + 500, 64, 0xff);

  it('is refused before SQLite opens it, with instructions, and nothing is changed', async () => {
    const dataDir = await killed();
    damageLog(dataDir);
    const { database } = dataFiles(dataDir);
    const before = [database, `${database}-wal`, `${database}-shm`].map((file) => readFileSync(file));
    const said = await refusal(open(dataDir));
    expect(said).toMatch(
      /^data_damaged: .*carillon\.db-wal, the write-ahead log, is damaged at byte \d+: \d+ writes after that place would be dropped/,
    );
    expect(said).toContain(`npx carillon mend --drop-damaged --data-dir ${dataDir}`);
    expect(said).toContain('npx carillon restore FILE --data-dir NEW');
    expect(await refusal(open(dataDir))).toBe(said);
    expect(mendFolder(dataDir, false, 1)).toMatchObject({ logCanBeCut: true, dropped: null, kept: null });
    const after = [database, `${database}-wal`, `${database}-shm`].map((file) => readFileSync(file));
    expect(after.every((bytes, at) => bytes.equals(before[at] ?? Buffer.alloc(0)))).toBe(true);
  });

  it('is cut on the operator’s request: writes before the damage are kept, and so is the original log', async () => {
    const dataDir = await killed();
    damageLog(dataDir);
    const mended = mendFolder(dataDir, true, Date.UTC(2026, 10, 22, 14, 5));
    expect(mended).toMatchObject({ damages: [], logCanBeCut: false });
    expect(mended.dropped).toContain('is damaged at byte');
    expect(mended.kept).toContain('carillon.db-wal.damaged-20261122T1405');
    const embedded = await open(dataDir);
    const { end } = await embedded.log.bounds('carillon.events', 0);
    expect(end).toBeLessThan(30);
    await embedded.log.append([logRecord('it goes on')]);
    expect((await embedded.log.bounds('carillon.events', 0)).end).toBe(end + 1);
  });

  it('in a folder that a restore replaces prevents the restore, because it may hide that messages were sent', async () => {
    const dataDir = await killed();
    const embedded = await open(dataDir);
    const file = join(folder.path, 'backup');
    await embedded.backup(file);
    await embedded.close();
    const newer = await killedAgain();
    damageLog(newer);
    const moment = { now: Date.now() as never, derive: () => '' as never };
    expect(
      await refusal(restoreBackup(file, join(folder.path, 'new'), { moment, collections: [], readers: [], newer })),
    ).toMatch(/^data_damaged/);
  });

  const killedAgain = async (): Promise<string> => {
    rmSync(join(folder.path, 'running'), { recursive: true });
    rmSync(join(folder.path, 'killed'), { recursive: true });
    return killed();
  };
});
