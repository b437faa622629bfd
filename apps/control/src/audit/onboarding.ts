import { GUIDE_STEPS, type GuideStep, type OnboardingBody } from '@carillon/contracts';
import type { AuditEntry } from '@carillon/domain';

/** A step that somebody reached, and after how much of what. */
export type Reached = { readonly step: GuideStep; readonly seconds: number; readonly clicks: number };

/** What the audit holds of it as its target: a name of three parts. */
export const reachedText = ({ step, seconds, clicks }: Reached): string => `${step}/${seconds}s/${clicks}`;

function readReached(text: string | null): Reached | null {
  const [, name, seconds, clicks] = /^([a-z]+)\/(\d+)s\/(\d+)$/.exec(text ?? '') ?? [];
  const step = GUIDE_STEPS.find((one) => one === name);
  return step === undefined ? null : { step, seconds: Number(seconds), clicks: Number(clicks) };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** How far people came, and where they stopped; each counts once for a step, by the first time. `entries`: the newest first. */
export function foldOnboarding(
  entries: readonly Pick<AuditEntry, 'actor' | 'target' | 'outcome'>[],
): Omit<OnboardingBody, 'complete'> {
  const people = new Map<string, Map<GuideStep, Reached>>();
  for (const { actor, target, outcome } of entries.toReversed()) {
    const reached = readReached(target);
    if (reached === null || actor === null || outcome !== 'done') continue;
    const own = people.get(actor.id) ?? new Map<GuideStep, Reached>();
    if (!own.has(reached.step)) own.set(reached.step, reached);
    people.set(actor.id, own);
  }
  const furthest = [...people.values()].map((own) => GUIDE_STEPS.findLast((step) => own.has(step)));
  return {
    people: people.size,
    steps: GUIDE_STEPS.map((step) => {
      const reached = [...people.values()].flatMap((own) => own.get(step) ?? []);
      return {
        step,
        reached: reached.length,
        stopped: furthest.filter((one) => one === step).length,
        seconds: median(reached.map(({ seconds }) => seconds)),
        clicks: median(reached.map(({ clicks }) => clicks)),
      };
    }),
  };
}
