import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseOpenPlaces } from './private-places.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'carillon-private-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const put = (name: string, mode: number): void => {
  writeFileSync(join(dataDir, name), '');
  chmodSync(join(dataDir, name), mode);
};

describe.runIf(process.platform !== 'win32')('at its start the program refuses', () => {
  it.each(['owner-token', 'carillon.db', 'carillon.db-wal', 'carillon.db-shm'])(
    '%s that everybody may read',
    (name) => {
      put(name, 0o644);
      expect(() => refuseOpenPlaces(dataDir)).toThrow(
        expect.objectContaining({
          code: 'invalid_configuration',
          detail: expect.stringContaining(`chmod 600 ${join(dataDir, name)}`) as string,
        }),
      );
      chmodSync(join(dataDir, name), 0o600);
      expect(() => refuseOpenPlaces(dataDir)).not.toThrow();
    },
  );

  it('a data folder in which everybody may write', () => {
    chmodSync(dataDir, 0o777);
    const inner = join(dataDir, 'carillon');
    expect(() => refuseOpenPlaces(dataDir)).toThrow(
      `${dataDir} cannot be used: every user of this machine may write there (chmod 700 ${dataDir}; where it is a volume that cannot be changed, --data-dir ${inner}, which is then made for you alone)`,
    );
    expect(() => refuseOpenPlaces(inner)).not.toThrow();
  });

  it('nothing if other users cannot write: own files, a readable folder, a missing folder', () => {
    put('owner-token', 0o640);
    put('carillon.db', 0o600);
    put('endpoints.json', 0o644);
    chmodSync(dataDir, 0o755);
    expect(() => refuseOpenPlaces(dataDir)).not.toThrow();
    expect(() => refuseOpenPlaces(join(dataDir, 'not-there'))).not.toThrow();
  });
});
