import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 29. Another master key
 *
 * Stored secrets are sealed under a data key of their workspace, and data keys under the master key. The master key is
 * exchanged while everything runs: a second one counts, then the old one is refused.
 */

chapter('29. Another master key', (newHome) => {
  const WORD = 'correct horse battery staple';
  let carillon: Carillon;
  let old = '';
  const keyFile = (name: string): string => join(carillon.folder, 'carillon-data', 'keys', name);
  const masterKeys = async () =>
    carillon.ask<{ master_keys: readonly { fingerprint: string; starts: boolean; alone: number }[] }>([
      'secret',
      'rotate',
      '--status',
    ]);
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    old = await readFile(keyFile('master.key'), 'utf8');
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('stores a secret for a workspace and one for the deployment, and lists what uses them', async () => {
    const set = await carillon.command(['secret', 'set', 'CRM_KEY', '--workspace', 'shop'], WORD);
    expect(set.out).toMatch(/CRM_KEY is stored, sealed \(fingerprint \w{4}, version 1\)/);
    await carillon.command(['secret', 'set', 'SMTP_PASSWORD', '--deployment'], WORD);
    const { out } = await carillon.command(['secret', 'list']);
    expect(out).toMatch(/\(deployment\) +SMTP_PASSWORD +1 /);
    expect(out).toMatch(/shop +CRM_KEY +1 /);
    expect(await carillon.home.stored()).not.toContain(WORD);
  });

  it('lets a second master key count while everything runs, and says what comes next', async () => {
    const { out } = await carillon.command(['secret', 'rotate']);
    expect(out).toContain('both keys are accepted');
    expect(out).toContain('npx carillon secret rotate --finish');
    expect((await stat(keyFile('master-next.key'))).mode & 0o777).toBe(0o600);
    expect((await masterKeys()).master_keys).toMatchObject([
      { starts: true, alone: 0 },
      { starts: false, alone: 0 },
    ]);
    expect((await carillon.command(['doctor'])).out).toContain('two count');
    // Again is the same: it goes on where it was cut off.
    expect((await carillon.command(['secret', 'rotate'])).code).toBe(0);
    expect((await masterKeys()).master_keys).toHaveLength(2);
  });

  it('refuses a third one meanwhile, and a step that is not one', async () => {
    await writeFile(join(carillon.folder, 'third.key'), 'c3'.repeat(32));
    const third = await carillon.command(['secret', 'rotate', '--key-file', 'third.key']);
    expect([third.code, third.err]).toEqual([1, expect.stringContaining('a rotation to another master key has begun')]);
    expect((await carillon.command(['secret', 'rotate', '--finish', '--cancel'])).code).toBe(2);
  });

  it('refuses the old one from then on', async () => {
    const { out } = await carillon.command(['secret', 'rotate', '--finish']);
    expect(out).toContain('one key is accepted');
    const now = await readFile(keyFile('master.key'), 'utf8');
    expect(now).not.toBe(old);
    expect((await masterKeys()).master_keys).toMatchObject([{ starts: true }]);
    expect((await carillon.command(['doctor'])).out).toContain('one counts');
  });

  it('encrypts every value again, and reads the key from a command', async () => {
    expect((await carillon.command(['secret', 'rotate', '--values'])).out).toContain('2 values are encrypted again');
    await writeFile(join(carillon.folder, 'own.key'), 'd4'.repeat(32));
    expect((await carillon.command(['secret', 'rotate', '--key-command', 'cat own.key'])).code).toBe(0);
    expect((await carillon.command(['secret', 'rotate', '--finish'])).code).toBe(0);
    expect((await readFile(keyFile('master.key'), 'utf8')).trim()).toBe('d4'.repeat(32));
  });

  it('starts with the new key, and not with the old one', async () => {
    expect(await carillon.stop()).toBe(0);
    const now = await readFile(keyFile('master.key'), 'utf8');
    await writeFile(keyFile('master.key'), old);
    await expect(startCarillon(carillon.home)).rejects.toThrow('npx carillon secret rotate');
    await writeFile(keyFile('master.key'), now);
    carillon = await startCarillon(carillon.home);
    const { out } = await carillon.command(['secret', 'list']);
    expect(out).toMatch(/shop +CRM_KEY +1 /);
    expect(out).not.toContain('does not open');
  });
});
