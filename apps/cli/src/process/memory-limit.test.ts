import { expect, it } from 'vitest';
import { memoryChecks } from './memory-limit.ts';

const MIB = 1024 * 1024;

it('warns about a limit below the recommendation without failing readiness', () => {
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
it.each([0, 512 * MIB, 2 ** 63])('shows nothing for a limit of %d bytes', (limit) => {
  expect(memoryChecks(limit)).toEqual([]);
});
