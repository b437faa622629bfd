import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@carillon/ports';
import { SAMPLE_COLLECTIONS, type Faults, type UnderTest } from '@carillon/testing';
import { afterAll } from 'vitest';
import { openEmbedded, type Embedded } from '../src/index.ts';

export const wallClock: Clock = { now: () => Date.now() };

/** A data folder for one test. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'carillon-embedded-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Another program that keeps the data file locked for writing: what a careless `sqlite3` shell does. */
export function holdFile(dataDir: string): Faults {
  let other: DatabaseSync | null = null;
  return {
    async breakWrites() {
      // A commit of ours may still be under way.
      other = new DatabaseSync(join(dataDir, 'carillon.db'), { timeout: 10_000 });
      other.exec('BEGIN IMMEDIATE');
    },
    async mendWrites() {
      other?.close();
      other = null;
    },
  };
}

/**
 * The ports of one embedded backend for a whole file of contract suites: suites use names of their own, so that sharing
 * proves as much and costs one start.
 */
export function sharedEmbedded(): <Port>(port: (embedded: Embedded) => Port) => () => Promise<UnderTest<Port>> {
  const folder = temporaryFolder();
  let opened: Promise<Embedded> | null = null;
  const open = (): Promise<Embedded> => {
    opened ??= openEmbedded({
      dataDir: folder.path,
      clock: wallClock,
      busyTimeout: 50,
      collections: SAMPLE_COLLECTIONS,
    });
    return opened;
  };
  afterAll(async () => {
    await (await opened)?.close();
    folder.remove();
  });
  return (port) => async () => ({
    port: port(await open()),
    faults: holdFile(folder.path),
    close: async () => undefined,
  });
}
