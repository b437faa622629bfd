import type { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { problemOf, problemSchema } from './problem.ts';

/** Problem of one item, equal to the response if the event had been sent alone. */
export const itemProblemSchema = problemSchema
  .extend({
    line: z.int().min(1).optional().describe('Line of the body, from 1: the line of the item.'),
    retry_after: z.int().optional().describe('Seconds after which the item may be sent again.'),
  })
  .meta({ id: 'ItemProblem' });
export type ItemProblem = z.infer<typeof itemProblemSchema>;

/**
 * The answer to a batch of events, with 202 or 207: a result for each item, in order. If reading ended early, the last result
 * is the problem why, and nothing behind that item was taken.
 */
export const batchAnswerSchema = z
  .strictObject({
    items: z.array(z.union([z.strictObject({ id: z.string() }), z.strictObject({ problem: itemProblemSchema })])),
  })
  .meta({ id: 'BatchAnswer' });
export type BatchAnswer = z.infer<typeof batchAnswerSchema>;

/** Returns the problem of an item. `line` is null where the body has no lines. */
export function itemProblemOf(error: CarillonError, requestId: string, line: number | null): ItemProblem {
  const { headers, body } = problemOf(error, requestId);
  const { line: _line, column, ...problem } = body;
  const retryAfter = headers['retry-after'];
  return {
    ...problem,
    ...(line !== null && { line, ...(column !== undefined && { column }) }),
    ...(retryAfter !== undefined && { retry_after: Number(retryAfter) }),
  };
}
