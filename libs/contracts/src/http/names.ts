import { z } from 'zod';
import { OPEN } from './privacy.ts';

/** Names of people of the deployment, by the ids that records keep of them. */
export const namesBody = z
  .object({
    people: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .describe('Ids of removed or unknown people are omitted'),
  })
  .meta({ id: 'Names', ...OPEN });
export type NamesBody = z.infer<typeof namesBody>;
