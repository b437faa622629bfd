import { CHANGE_OPS } from '@carillon/domain/changes';
import { z } from 'zod';

/** Effect of a change on its row. */
export const eventChangeBody = z
  .object({
    op: z.enum(CHANGE_OPS),
    table: z.string().describe('`schema.table`'),
    fields: z
      .array(z.object({ field: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('Changed fields of an updated row, at most 20. Values are JSON text, cut short. Null: no such field'),
    more: z.int().describe('Number of changed fields that are not listed'),
    unknown: z.array(z.string()).describe('Fields whose values the database did not send'),
    before_known: z.boolean().describe('False: the database did not send the row before'),
  })
  .meta({ id: 'EventChange' });
