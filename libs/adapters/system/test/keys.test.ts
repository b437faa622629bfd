import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKeys } from '../src/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the keys of a deployment', () => {
  it('are created at the first start, readable by their owner only, and then stay the same', () => {
    const first = loadKeys(folder);
    expect(loadKeys(folder)).toMatchObject({ ledgerKey: first.ledgerKey, pepper: first.pepper });
    expect(loadKeys(folder).fingerprints()).toEqual(first.fingerprints());
    expect(loadKeys(folder).fingerprint()).toBe(first.fingerprint());
    expect(first.fingerprint()).not.toContain(Buffer.from(first.ledgerKey).toString('hex'));
    expect(readdirSync(join(folder, 'keys')).toSorted()).toEqual(['api-key-pepper.key', 'ledger.key', 'master.key']);
    for (const name of readdirSync(join(folder, 'keys'))) {
      expect(statSync(join(folder, 'keys', name)).mode & 0o777).toBe(0o600);
    }
    const texts = ['ledger', 'api-key-pepper', 'master'].map((name) =>
      readFileSync(join(folder, 'keys', `${name}.key`)),
    );
    expect(new Set(texts.map(String)).size).toBe(3);
  });

  it('are one set for processes that start at once', async () => {
    const program = join(import.meta.dirname, 'make-keys.ts');
    const started = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [program, folder]));
    const printed = await Promise.all(started);
    expect(new Set(printed.map(({ stdout }) => stdout)).size).toBe(1);
    expect(readdirSync(join(folder, 'keys'))).toHaveLength(3);
  });

  it('include a master key from the environment, as hex or base64, which is then not stored in a file', () => {
    const key = new Uint8Array(32).fill(9);
    for (const encoding of ['hex', 'base64'] as const) {
      const given = loadKeys(folder, { CARILLON_MASTER_KEY: Buffer.from(key).toString(encoding) });
      expect(given.masterKeys.starting().key.export()).toEqual(Buffer.from(key));
      expect(given.masterKeys.source).toBe('environment');
    }
    expect(readdirSync(join(folder, 'keys'))).not.toContain('master.key');
    expect(() => loadKeys(folder, { CARILLON_MASTER_KEY: 'too short' })).toThrow('openssl rand -hex 32');
  });

  it('are refused, and not replaced, if a file is damaged or readable by others', () => {
    loadKeys(folder);
    const file = join(folder, 'keys', 'ledger.key');
    chmodSync(file, 0o644);
    expect(() => loadKeys(folder)).toThrow('chmod 600');
    chmodSync(file, 0o600);
    writeFileSync(file, 'half a k');
    expect(() => loadKeys(folder)).toThrow('Restore it from a backup');
    writeFileSync(file, '');
    expect(() => loadKeys(folder)).toThrow('Restore it from a backup');
  });
});
