import { expect, it } from 'vitest';
import { firstStepsWords } from '../src/screens/workspaces/first-steps.tsx';

const read = (reached: number) => ({
  people: 3,
  steps: [{ step: 'message' as const, reached, stopped: reached, seconds: reached === 0 ? null : 150, clicks: 11 }],
});

it('how the guide went is a sentence that is true of one person too', () => {
  expect(firstStepsWords(read(0))).toBe('3 people started from a link; nobody read a first message yet.');
  expect(firstStepsWords(read(1))).toBe(
    '3 people started from a link; 1 read a first message, after 3 min and 11 clicks.',
  );
  expect(firstStepsWords(read(2))).toBe(
    '3 people started from a link; 2 read a first message, after 3 min and 11 clicks, in the median.',
  );
});
