import { z } from 'zod';

/** The way from the first link to the first message, in its order. */
export const GUIDE_STEPS = ['came', 'notification', 'key', 'event', 'message'] as const;
export type GuideStep = (typeof GUIDE_STEPS)[number];

export const reachedStep = z.strictObject({
  step: z.enum(GUIDE_STEPS),
  seconds: z.int().min(0).max(31_536_000).describe('Since the link was opened'),
  clicks: z.int().min(0).max(1_000_000).describe('Since the link was opened'),
});
export const notedBody = z.object({ noted: z.literal(true) }).meta({ id: 'Noted' });

const median = z.int().nullable();
export const onboardingBody = z
  .object({
    people: z.int().describe('Who began by a link'),
    steps: z.array(
      z.object({
        step: z.enum(GUIDE_STEPS),
        reached: z.int().describe('People who reached this step'),
        stopped: z.int().describe('Of them those who went no further'),
        seconds: median.describe('Median time since the link was opened. Null if nobody reached this step'),
        clicks: median.describe('Median time since the link was opened. Null if nobody reached this step'),
      }),
    ),
  })
  .meta({ id: 'Onboarding' });
export type OnboardingBody = z.infer<typeof onboardingBody>;
