import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeScratchFolder } from './scratch-folder.ts';

describe('The folder of scratch files', () => {
  let folder = '';
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'scratch-folder-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is made for its owner only, and made once', () => {
    const made = join(folder, 'deep', 'runs');
    makeScratchFolder(made);
    makeScratchFolder(made);
    expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it('is refused if others may use it, or if it is a link to another folder', () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o770);
    expect(() => makeScratchFolder(open)).toThrow(/other users may use it/);
    const link = join(folder, 'link');
    mkdirSync(join(folder, 'private'), { mode: 0o700 });
    symlinkSync(join(folder, 'private'), link);
    expect(() => makeScratchFolder(link)).toThrow(/other users may use it/);
  });
});
