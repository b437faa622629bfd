import { z } from 'zod';
import { open } from './privacy.ts';

/** Steps of a check, in their order. */
export const checkBody = z
  .object({
    steps: z.array(
      z.object({
        step: z.string(),
        ok: z.boolean(),
        detail: z.string(),
        fix: open(z.string()).nullable().optional().describe('SQL, command or line to copy'),
      }),
    ),
  })
  .meta({ id: 'Checks' });
export type CheckBody = z.infer<typeof checkBody>;
