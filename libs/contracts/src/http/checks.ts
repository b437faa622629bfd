import { z } from 'zod';
import { open } from './privacy.ts';

/** Steps of a check, in their order. */
export const checkBody = z
  .object({
    steps: z.array(
      z.object({
        step: z.string(),
        title: open(z.string()).optional().describe('The step as people read it. Left out if `step` says it'),
        meaning: open(z.string()).optional().describe('What the step looks at'),
        ok: z.boolean(),
        detail: z.string(),
        fix: open(z.string()).nullable().optional().describe('SQL, command or line to copy'),
      }),
    ),
  })
  .meta({ id: 'Checks' });
export type CheckBody = z.infer<typeof checkBody>;
