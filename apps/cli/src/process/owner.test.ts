import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownerToken } from './owner.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-owner-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const word = async (): Promise<string> => 'word';

it('whoever made the token greets once, also where its first start failed and is tried again', async () => {
  const { token } = ownerToken(folder, undefined);
  const again = ownerToken(folder, undefined);
  expect(again.token).toBe(token);
  const away = again.greet(async () => {
    throw new Error('the log is away');
  });
  await expect(away).rejects.toThrow('the log is away');
  expect(await ownerToken(folder, undefined).greet(word)).toBe('word');
  expect(await ownerToken(folder, undefined).greet(word)).toBeNull();
});

it('a token that is given greets nobody', async () => {
  const given = 'g'.repeat(32);
  const owner = ownerToken(folder, given);
  expect(owner.token).toBe(given);
  expect(await owner.greet(word)).toBeNull();
});
