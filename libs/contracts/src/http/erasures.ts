import { ACTOR_KINDS } from '@carillon/domain/people';
import { ERASURE_PLACES } from '@carillon/domain/erasures';
import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';
import { actorBody } from './resources.ts';

/** Bodies of the management API about erasing a person. */

export const erasureRequest = z
  .strictObject({
    person: z
      .string()
      .min(1)
      .max(4096)
      .describe('A user id or an address. It is not stored: the erasure keeps keyed hashes'),
    reason: z.string().min(1).max(500).describe('Why, for the audit and the certificate. It must not name the person'),
    confirm: z
      .string()
      .max(64)
      .optional()
      .describe(
        'Checksum of a previous response without one. Without it nothing is changed, and the response lists what would be erased',
      ),
  })
  .meta({ id: 'ErasureRequest' });

const counts = z
  .object(Object.fromEntries(ERASURE_PLACES.map((place) => [place, z.int().optional()])))
  .describe('Number of entries per store. Stores without entries are not listed');

export const erasureBody = z
  .object({
    id: z.string(),
    workspace: z.string().nullable().describe('Null: all workspaces'),
    job: z.string().describe('The job that carries it out'),
    reason: z.string(),
    requested_by: actorBody,
    requested_at: time,
    erased_at: nullable(time).describe('Null: it has not ended'),
    erased: counts,
    remains: z
      .array(
        z.object({
          where: z.enum(['log', 'backups', 'sealed_responses', 'keyed_hashes']),
          until: nullable(time).describe('Null: until a person deletes it'),
          detail: z.string(),
        }),
      )
      .describe('Where something of the person is left, and until when'),
  })
  .meta({ id: 'Erasure' });
export type ErasureBody = z.infer<typeof erasureBody>;
export const erasurePage = pageOf(erasureBody).meta({ id: 'ErasurePage' });

export const erasureLookBody = z
  .object({
    found: counts,
    checksum: z.string().describe('Sent as `confirm`, it erases exactly what was found'),
    shared_addresses: z.int().describe('Addresses of the person to which other people are notified too. They are kept'),
    undecided: z
      .array(z.string())
      .describe('Deliveries to the person that are in doubt or being sent. Decide about them before you confirm'),
    erasure: nullable(erasureBody).describe('Null: nothing was changed'),
  })
  .meta({ id: 'ErasureLook' });
export type ErasureLookBody = z.infer<typeof erasureLookBody>;

/** Value of `format` in the list of erasures. */
export const ERASURE_LIST = 'carillon-erasures';

export const listedErasure = z.strictObject({
  id: z.string(),
  workspace: z.string().nullable(),
  hashes: z.array(z.string()).describe('Keyed hashes of names and addresses'),
  job: z.string(),
  reason: z.string(),
  requested_by: z.strictObject({ kind: z.enum(ACTOR_KINDS), id: z.string() }),
  requested_by_name: z.string(),
  requested_at: time,
  erased_at: nullable(time),
  erased: counts,
});
export type ListedErasure = z.infer<typeof listedErasure>;

export const erasureListBody = z
  .strictObject({
    format: z.literal(ERASURE_LIST),
    log_id: z.string().describe('The deployment whose backups the list is for'),
    exported_at: time,
    erasures: z.array(listedErasure),
    checksum: z
      .string()
      .describe('SHA-256 over `erasures` as JSON, by which `restore` recognizes a list that is cut off or edited'),
  })
  .meta({ id: 'ErasureList' });
export type ErasureListBody = z.infer<typeof erasureListBody>;
