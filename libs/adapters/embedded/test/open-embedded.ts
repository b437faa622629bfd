import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@carillon/ports';
import type { Faults, UnderTest } from '@carillon/testing';
import { openEmbedded, type Embedded, type EmbeddedOptions } from '../src/index.ts';

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
      other = new DatabaseSync(join(dataDir, 'carillon.db'));
      other.exec('BEGIN IMMEDIATE');
    },
    async mendWrites() {
      other?.close();
      other = null;
    },
  };
}

/** A fresh embedded backend with one of its ports, for a contract suite. */
export const embeddedWith =
  <Port>(port: (embedded: Embedded) => Port, options: Partial<EmbeddedOptions> = {}) =>
  async (): Promise<UnderTest<Port>> => {
    const folder = temporaryFolder();
    const embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock, busyTimeout: 50, ...options });
    return {
      port: port(embedded),
      faults: holdFile(folder.path),
      async close() {
        await embedded.close();
        folder.remove();
      },
    };
  };
