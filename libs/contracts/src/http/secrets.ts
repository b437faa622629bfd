import { ACTOR_KINDS } from '@carillon/domain/people';
import { z } from 'zod';
import { pageOf } from './fields.ts';

const time = z.string().describe('RFC 3339 time in UTC');

export const secretBody = z
  .object({
    workspace: z.string().describe("Empty for the deployment's own"),
    name: z.string(),
    version: z.int().describe('1 for the first value, one more with each new one'),
    fingerprint: z
      .string()
      .describe(
        'Four characters derived from the value. Equal values have equal fingerprints; the value cannot be derived',
      ),
    updated_at: time,
    updated_by: z
      .object({ kind: z.enum(ACTOR_KINDS), id: z.string() })
      .describe('Who set the value. The id of a person or token stays when it is removed'),
    overridden: z
      .boolean()
      .describe('A variable of the environment goes before it: this value is not used while that is set'),
    readable: z.boolean().describe('False for what an early version sealed in another way: set it again'),
    used_by: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .describe('Resources of the newest configuration that name it. Empty: nothing does'),
  })
  .meta({ id: 'Secret' });
export const secretList = pageOf(secretBody).meta({ id: 'SecretList' });
export type SecretBody = z.infer<typeof secretBody>;

/** In the configuration's own limits: a file of keys is some thousand characters. */
export const secretSetting = z.strictObject({ value: z.string().min(1).max(16_384) }).meta({ id: 'SecretSetting' });

export const masterKeysBody = z
  .object({
    source: z
      .enum(['environment', 'command', 'file'])
      .describe('Where a start of the control role takes its master key from'),
    master_keys: z
      .array(
        z.object({
          fingerprint: z.string(),
          held: z.boolean().describe('The control role holds it'),
          starts: z.boolean().describe('The control role would start with it again'),
          data_keys: z.int().describe('Data keys that rest under it'),
          alone: z.int().describe('Data keys that rest under no other: without it they are lost'),
        }),
      )
      .describe('The oldest first. Two: a rotation is under way'),
    data_keys: z.int(),
    values: z.int().describe('Stored secrets'),
    values_behind: z
      .int()
      .describe('Number of values under an old data key, because encrypting them again was interrupted'),
    unreadable: z
      .array(z.object({ workspace: z.string(), name: z.string() }))
      .describe('Sealed by an early version in another way: set them again'),
  })
  .meta({ id: 'MasterKeys' });
export type MasterKeysBody = z.infer<typeof masterKeysBody>;

export const renewedValuesBody = masterKeysBody
  .extend({ renewed: z.int().describe('Number of values that were encrypted again') })
  .meta({ id: 'RenewedValues' });
export type RenewedValuesBody = z.infer<typeof renewedValuesBody>;

/** Never in an address or a header, which proxies write down. */
export const newMasterKey = z
  .strictObject({
    master_key: z
      .string()
      .max(100)
      .optional()
      .describe(
        '32 bytes as hex or base64. Defaults to a generated key if the control role keeps its key in a file, or to the key of the interrupted rotation',
      ),
  })
  .meta({ id: 'NewMasterKey' });
