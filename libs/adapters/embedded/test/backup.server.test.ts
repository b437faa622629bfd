import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCarillonError } from '@carillon/kernel';
import { logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, restoreBackup, type RestoreOptions } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const at = (name: string): string => join(folder.path, name);
const options: RestoreOptions = {
  moment: { now: 0, derive: (...parts) => parts.join('/') },
  collections: [],
  readers: [],
};
const refusal = (restored: Promise<unknown>): Promise<string> =>
  restored.then(
    () => 'restored',
    (error: unknown) => (isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error)),
  );

describe('a backup of a data folder', () => {
  it('made during writes is consistent, includes the keys, and is readable only by its owner', async () => {
    const embedded = await openEmbedded({ dataDir: at('data'), clock: wallClock });
    mkdirSync(at('data/keys'));
    writeFileSync(at('data/keys/ledger.key'), 'ab'.repeat(32));
    let writing = true;
    let acknowledged = 0;
    // Each pair goes to two partitions in one commit, so a consistent copy has equal numbers in both.
    const writer = (async () => {
      while (writing) {
        await embedded.log.append([logRecord('x'.repeat(2000)), logRecord('y', { partition: 1 })]);
        acknowledged += 1;
      }
    })();
    while (acknowledged < 50) await new Promise((resolve) => setImmediate(resolve));
    const before = acknowledged;
    await embedded.backup(at('copy.backup'));
    await embedded.backup(at('copy.backup'));
    writing = false;
    await writer;
    await embedded.close();

    expect(statSync(at('copy.backup')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path).toSorted()).toEqual(['copy.backup', 'data']);
    mkdirSync(at('empty'));
    for (const target of ['new', 'empty']) {
      await restoreBackup(at('copy.backup'), at(target), options);
      expect(readFileSync(at(`${target}/keys/ledger.key`), 'utf8')).toBe('ab'.repeat(32));
      expect(statSync(at(`${target}/keys/ledger.key`)).mode & 0o777).toBe(0o600);
      expect(statSync(at(`${target}/carillon.db`)).mode & 0o777).toBe(0o600);
      const restored = await openEmbedded({ dataDir: at(target), clock: wallClock });
      expect(restored.log.logId).toBe(embedded.log.logId);
      const [one, two] = [0, 1].map((partition) => restored.log.bounds('carillon.events', partition));
      expect((await one)?.end).toBe((await two)?.end);
      expect((await one)?.end).toBeGreaterThanOrEqual(before);
      expect(await restored.log.append([logRecord('goes on')])).toEqual([(await two)?.end]);
      await restored.close();
    }
  });

  it('is not restored over existing data, nor if the backup is incomplete', async () => {
    const embedded = await openEmbedded({ dataDir: at('data'), clock: wallClock });
    await embedded.log.append([logRecord('x'.repeat(100_000))]);
    await embedded.backup(at('copy.backup'));
    await embedded.close();
    const bytes = readFileSync(at('copy.backup'));
    writeFileSync(at('cut.backup'), bytes.subarray(0, bytes.length / 2));
    writeFileSync(at('text.backup'), 'hello');
    expect(await refusal(restoreBackup(at('copy.backup'), at('data'), options))).toMatch(
      /^wrong_usage: .* is not empty/,
    );
    expect(await refusal(restoreBackup(at('missing.backup'), at('new'), options))).toContain('no file');
    for (const name of ['cut.backup', 'text.backup', 'data/carillon.db']) {
      expect(await refusal(restoreBackup(at(name), at('new'), options)), name).toContain('wrong_usage');
    }
    expect(existsSync(at('new'))).toBe(false);
    expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('leaves no files behind if writing fails', async () => {
    const embedded = await openEmbedded({ dataDir: at('data'), clock: wallClock });
    await expect(embedded.backup(at('no/such/folder/copy.backup'))).rejects.toThrow();
    mkdirSync(at('taken'));
    await expect(embedded.backup(at('taken'))).rejects.toThrow();
    await embedded.close();
    expect(readdirSync(folder.path).toSorted()).toEqual(['data', 'taken']);
  });
});
