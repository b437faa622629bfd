import { GUIDE_STEPS, type OnboardingBody } from '@carillon/contracts';
import type { Person } from '@carillon/domain/people';

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** Counts how far people came in the guide, and where they stopped. People without any step do not count. */
export function guideNumbers(people: readonly Pick<Person, 'guide'>[]): OnboardingBody {
  const walked = people.map(({ guide = [] }) => guide).filter((steps) => steps.length > 0);
  const furthest = walked.map((steps) => GUIDE_STEPS.findLast((name) => steps.some(({ step }) => step === name)));
  return {
    people: walked.length,
    steps: GUIDE_STEPS.map((name) => {
      const reached = walked.flatMap((steps) => steps.filter(({ step }) => step === name));
      return {
        step: name,
        reached: reached.length,
        stopped: furthest.filter((one) => one === name).length,
        seconds: median(reached.map(({ seconds }) => seconds)),
        clicks: median(reached.map(({ clicks }) => clicks)),
      };
    }),
  };
}
