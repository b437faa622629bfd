import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';
import { anAddress, ofBodies, open } from './privacy.ts';

/** Bodies of the management API about suppressions and opt-outs. */

export const suppressionBody = z
  .object({
    workspace: z.string(),
    channel: z.string(),
    address: anAddress(z.string()),
    source: z.string(),
    detail: ofBodies(z.string()),
    by: z.string().nullable().describe('Who put it there; null where no person did'),
    delivery_id: z.string().nullable(),
    at: time,
  })
  .meta({ id: 'Suppression' });
export const suppressionPage = pageOf(suppressionBody).meta({ id: 'SuppressionPage' });
export type SuppressionBody = z.infer<typeof suppressionBody>;
export const suppressedBody = z
  .object({
    added: z.boolean().describe('False: the operator’s entry was there before, and stays as it was'),
    items: z.array(suppressionBody).describe('All entries of the address'),
  })
  .meta({ id: 'Suppressed' });
export type SuppressedBody = z.infer<typeof suppressedBody>;
export const unsuppressedBody = z
  .object({
    removed: z.boolean(),
    still: z
      .array(suppressionBody)
      .describe('What other sources say: nothing is sent to the address as long as there is one'),
    undo: open(z.string()).describe('What was there, sealed: `restore` takes it'),
  })
  .meta({ id: 'Unsuppressed' });
export type UnsuppressedBody = z.infer<typeof unsuppressedBody>;

/** How much one job may be about. */
const ceiling = {
  more: z.boolean().describe('More match than one job takes: narrow the filter'),
  ceiling: z.int().describe('Items that one job takes'),
};
export const suppressionCountBody = z
  .object({
    removed: z.int().describe('Entries that are there'),
    addresses: z.int().describe('Addresses that these are of'),
    still: z.int().describe('Of those, how many another source holds back without them'),
    ...ceiling,
  })
  .meta({ id: 'SuppressionCount' });
export const restoredBody = z
  .object({ restored: z.int().describe('Entries that were not there') })
  .meta({ id: 'Restored' });

const consentWord = z.object({
  target: z.enum(['all', 'category', 'notification']),
  name: z
    .string()
    .nullable()
    .describe('Of the category or the notification; null of all, and of a notification that is gone'),
  notification_id: z.string().nullable().describe('What a notification keeps when it is renamed'),
  channel: z.string().nullable().describe('Null: on all'),
  opted_out: z.boolean().describe('False: they want it again'),
  way: z.string(),
  by: z.string().nullable().describe('Who said it in their place; null where they did'),
  at: time,
});
export const consentBody = z
  .object({
    workspace: z.string(),
    person: anAddress(z.string()).describe(
      'Their id, or an address in its one form; a name of more than 200 bytes as `hash:…`',
    ),
    words: z.array(consentWord).describe('The newest word about each target and channel'),
    exempt: z.array(z.string()).describe('Transactional notifications, which are sent regardless of choices'),
    updated_at: nullable(time).describe('Null if the person never made a choice'),
  })
  .meta({ id: 'Consent' });
export const consentSetBody = consentBody
  .extend({
    changed: z
      .array(consentWord)
      .describe(
        'Those of `words` that reversed an earlier choice. To undo one, send it again with its `at` as `undoes`',
      ),
  })
  .meta({ id: 'ConsentSet' });
export const consentCountBody = z
  .object({
    people: z.int().describe('People with opt-outs that are meant'),
    words: z.int().describe('Opt-outs that are meant, one for each target and channel'),
    ...ceiling,
  })
  .meta({ id: 'ConsentCount' });
export const consentPage = pageOf(consentBody).meta({ id: 'ConsentPage' });
export type ConsentBody = z.infer<typeof consentBody>;

/** Result of importing a file, or a part of it. */
export const importedBody = z
  .object({
    rows: z.int(),
    taken: z.int().describe('Rows that hold now'),
    added: z.int().describe('Of these, what changed something; after an answer that was lost it may be fewer'),
    refused: z.int(),
    faults: z.array(z.object({ line: z.int(), message: z.string() })).describe('Every refused row'),
    ignored_columns: z.array(z.string()).describe('Columns that the import ignores'),
  })
  .meta({ id: 'Imported' });
export type ImportedBody = z.infer<typeof importedBody>;
