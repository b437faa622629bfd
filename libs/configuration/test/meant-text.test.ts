import { describe, expect, test } from 'vitest';
import { meantText } from '../src/files/meant-text.ts';

describe('a line that was meant as quoted text', () => {
  test('is recognized with spaces around it', () => {
    expect(meantText('  subject:   {{ name }} is here   ')).toMatchObject({
      fix: "write subject: '{{ name }} is here'",
    });
  });

  test.each([
    ['blanks within', `name: [x${' '.repeat(200_000)}y] z`],
    ['blanks before', `${' '.repeat(200_000)}name: [x] z`],
    ['a name without end', `${'a'.repeat(200_000)}: [x] z`],
  ])('is ignored beyond a usual length, so that %s cost nothing', (_what, line) => {
    expect(meantText(line)).toBeNull();
  });
});
