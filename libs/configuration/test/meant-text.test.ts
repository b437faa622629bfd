import { describe, expect, test } from 'vitest';
import { meantText } from '../src/files/meant-text.ts';

describe('a line that somebody meant as text', () => {
  test('is read with blanks around it', () => {
    expect(meantText('  subject:   {{ name }} is here   ')).toMatchObject({
      fix: "write subject: '{{ name }} is here'",
    });
  });

  test.each([
    ['blanks within', `name: [x${' '.repeat(200_000)}y] z`],
    ['blanks before', `${' '.repeat(200_000)}name: [x] z`],
    ['a name without end', `${'a'.repeat(200_000)}: [x] z`],
  ])('is not looked at where it is longer than people write, so that %s cost nothing', (_what, line) => {
    expect(meantText(line)).toBeNull();
  });
});
