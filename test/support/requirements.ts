import { describe } from 'vitest';
import { missingPrograms, type Program } from './programs.ts';

export { PROGRAMS } from './programs.ts';

/** A `describe` that needs a program of the machine. Without it the tests are reported as skipped, with the reason. */
export function describeWith(needed: Program | readonly Program[], name: string, body: () => void): void {
  const lacking = [needed].flat().filter((program) => missingPrograms().includes(program));
  const run = lacking.length === 0 ? describe : describe.skip;
  run(lacking.length === 0 ? name : `${name} (needs ${lacking.join(' and ')}: npm test -- --install)`, body);
}
