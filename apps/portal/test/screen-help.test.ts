import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCREENS, screensWith } from '../src/screens/list.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('The help link of a screen', () => {
  it.each(screensWith('docs'))('leads to a page of the documentation at $path', ({ docs }) => {
    expect(existsSync(join(ROOT, `${docs.slice(1)}.md`)), docs).toBe(true);
  });

  it('is missing only on the list of settings and without a session', () => {
    const without = SCREENS.filter((screen) => !('docs' in screen)).map(({ path }) => path);
    expect(without).toEqual(['/welcome', '/invitation', '/confirm', '/sign-in', '/settings']);
  });
});
