import { AUDIT_FAULT_KINDS, AUDIT_OUTCOMES, SEAL_PLACES } from '@carillon/domain/audit';
import { ACTOR_KINDS } from '@carillon/domain/people';
import { z } from 'zod';
import { next } from './fields.ts';
import { OPEN } from './privacy.ts';

const text = z.string().nullable();

/** One action, as the audit records it. */
export const auditEntryBody = z
  .strictObject({
    id: z.string(),
    position: z.number().int().describe('Of the record on carillon.audit'),
    at: z.string(),
    actor: z
      .strictObject({ kind: z.enum(ACTOR_KINDS), id: z.string() })
      .nullable()
      .describe('Null if nobody is known, such as after a refused sign-in'),
    action: z.string(),
    action_words: z.string().describe('The action as text that follows its actor, such as `changed member`'),
    target: text,
    workspace: text.describe('Null: the deployment, or several'),
    from: z.strictObject({ address: text, user_agent: text }),
    request_id: text,
    number: z.number().int().nullable().describe('Configuration that it made'),
    before: text.describe('Digest of what was there before'),
    after: text.describe('Digest of what is there since'),
    outcome: z.enum(AUDIT_OUTCOMES).describe('`begun`: the outcome was not recorded'),
    code: text.describe('Code of the problem that was answered'),
    outcome_words: text.describe('The outcome and its code as text. Null if the action was done'),
    detail: text.describe('What a person gave as a reason, and what the action covers'),
  })
  .meta({ id: 'AuditEntry', ...OPEN });
export type AuditEntryBody = z.infer<typeof auditEntryBody>;

export const auditPage = z.strictObject({ items: z.array(auditEntryBody), next }).meta({ id: 'AuditPage' });

export const keptSeal = z.strictObject({
  through: z.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits'),
  contents: z
    .string()
    .regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')
    .optional()
    .describe('`seal_contents` of the line. Absent if an earlier version wrote it'),
  mac: z.string().min(1).max(100),
});

export const auditVerdictBody = z
  .strictObject({
    ok: z.boolean(),
    begins: z.number().int().describe('First stored position. Older entries were past the retention and were deleted'),
    records: z.number().int(),
    seals: z.number().int().describe('Seals that hold, on the topic, in the store and among those that were given'),
    sealed_through: z.number().int().nullable().describe('Last position that a seal holds'),
    fault: z
      .strictObject({
        kind: z.enum(AUDIT_FAULT_KINDS),
        position: z.number().int(),
        seal: z
          .strictObject({ place: z.enum(SEAL_PLACES), through: z.number().int() })
          .nullable()
          .describe('The first seal that fails'),
        sentence: z.string().describe('What was found, without a full stop'),
      })
      .nullable(),
  })
  .meta({ id: 'AuditVerdict', ...OPEN });
export type AuditVerdictBody = z.infer<typeof auditVerdictBody>;
