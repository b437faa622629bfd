import { z } from 'zod';
import { next, nullable } from './fields.ts';
import { open } from './privacy.ts';

/** RFC 3339. */
const time = z.string();

export const droppedBody = z
  .object({
    at: time,
    workspace: z.string(),
    rule: z.string().describe('`notification.rule`'),
    event_id: z.string(),
    who: z.string().describe('`recipient 3`, `user ids 501 to 612`, `item 2`, `everybody`'),
    reason: z.string(),
    reason_words: nullable(open(z.string())).describe('The reason in a few words'),
    detail: z.string(),
    count: z.int(),
    told: z.int().describe('Number of people the same event and rule notified or looked up'),
  })
  .meta({ id: 'Dropped' });
export const droppedPage = z
  .object({
    items: z.array(droppedBody),
    next,
    complete: z.boolean().describe('False: there may be more, before these'),
  })
  .meta({ id: 'DroppedPage' });
export type DroppedBody = z.infer<typeof droppedBody>;
export type DroppedPage = z.infer<typeof droppedPage>;
