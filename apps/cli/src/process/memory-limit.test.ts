import { expect, it } from 'vitest';
import { memoryChecks } from './memory-limit.ts';

const MIB = 1024 * 1024;

it('a limit below what a role may need is shown, and keeps nobody from work', () => {
  expect(memoryChecks(256 * MIB)).toEqual([
    {
      name: 'memory',
      ok: false,
      decides: false,
      detail: expect.stringMatching(/^at most 256 MiB: .* 512 MiB/) as unknown,
    },
  ]);
});

// Without a limit, Node returns 0 or a huge number, depending on the system.
it.each([0, 512 * MIB, 2 ** 63])('nothing is said of a limit of %d bytes', (limit) => {
  expect(memoryChecks(limit)).toEqual([]);
});
