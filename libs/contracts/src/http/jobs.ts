import { DELIVERY_STATES } from '@carillon/domain/deliveries';
import { JOB_CANCEL_CAUSES, JOB_STATES, MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';
import { actorBody } from './resources.ts';

/** Returns the body of a long action and its progress, given the actions of all kinds and the fields they add to `parameters`. */
export const jobBodyOf = (actions: readonly [string, ...string[]], parameters: z.ZodRawShape) =>
  z
    .object({
      id: z.string(),
      workspace: z.string().nullable().describe('Null: the deployment’s'),
      action: z.enum(actions),
      state: z
        .enum(JOB_STATES)
        .describe('`done`: it ended, and items may have failed. `failed`: it ended, and no item succeeded'),
      of: z.int().describe('Items that it is about; they were fixed when it began'),
      done: z.int().describe('Items that were done'),
      failed: z.int().describe('Items that could not be done'),
      failures: z
        .array(
          z.object({
            item: z
              .string()
              .describe(
                'Id of the delivery or dead letter, `kind/name` of a resource, the file, or a keyed hash of a person or address',
              ),
            code: z.string().describe('As of a problem'),
            detail: z.string(),
          }),
        )
        .describe('The first 100 items that could not be done, and why'),
      parameters: z.object(parameters).describe('Further arguments of the job besides its items'),
      created_at: time,
      created_by: actorBody,
      started_at: nullable(time),
      updated_at: time,
      ended_at: nullable(time).describe('Null: it is not over'),
      can_undo: z.boolean().describe('`undo` takes back what it did. False until it is over'),
      cancelled_by: nullable(actorBody).describe('Who wished that it ends early'),
      cancelled_because: nullable(z.enum(JOB_CANCEL_CAUSES)).describe(
        '`rights_lost`: the person who started it was removed, disabled or lost the role. Null: not cancelled, or cancelled by a person',
      ),
      kept_until: nullable(time).describe('When it is forgotten; null: it is not over'),
    })
    .meta({ id: 'Job' });
type JobSchema = ReturnType<typeof jobBodyOf>;
export type JobBody = z.infer<JobSchema>;
export const jobPageOf = (body: JobSchema) => pageOf(body).meta({ id: 'JobPage' });

/** Returns the body of a stop of missing messages, given the body of a job. */
export const runStopBodyOf = (body: JobSchema) =>
  z
    .object({
      jobs: z
        .array(body)
        .describe('Jobs that cancel the deliveries that still wait, one for each job that sent messages of the run'),
      waiting_lookups: z
        .int()
        .describe(
          'Open lookups among the newest 500 of each job. They cannot be recalled: stop again after their answers to cancel the resulting deliveries',
        ),
      uncounted_lookups: z.int().describe('Older questions of the jobs, which were not looked at'),
    })
    .meta({ id: 'RunStop' });
export type RunStopBody = z.infer<ReturnType<typeof runStopBodyOf>>;

/** How much a bulk action would be about. */
export const deliveryCountBody = z
  .object({
    action: z.enum(['resend', 'cancel', 'dismiss']),
    count: z.int().describe('Deliveries that match and that the action fits as they are now, at most `ceiling`'),
    people: z.int().describe('How many people they are to'),
    by_state: z.partialRecord(z.enum(DELIVERY_STATES), z.int()),
    more: z.boolean().describe('More match than one job takes: narrow the filter'),
    ceiling: z.int().describe('Items that one job takes'),
  })
  .meta({ id: 'DeliveryCount' });
export const chosenCountBody = deliveryCountBody
  .extend({ ids: z.array(z.string()).describe('Those of the named ones that the action fits') })
  .meta({ id: 'ChosenDeliveryCount' });
export const deadLetterCountBody = z
  .object({
    count: z.int().describe('Matching dead letters that are neither redriven nor dismissed, at most `ceiling`'),
    receipts: z
      .int()
      .describe(
        'Matching parked receipts, at most `ceiling`. A redrive of all does not include them, because each needs its own check',
      ),
    more: z.boolean().describe('More match than one job takes: narrow the filter'),
    ceiling: z.int().describe('Items that one job takes'),
    leaving: z
      .object({
        count: z.int().describe('How many, at most 500'),
        from: z.iso.datetime().describe('When the first may be removed'),
      })
      .nullable()
      .describe(
        'Open dead letters and parked receipts of the workspace that retention removes from the log within seven days. Null if there are none, as always in a data folder',
      ),
  })
  .meta({ id: 'DeadLetterCount' });
export type DeadLetterCountBody = z.infer<typeof deadLetterCountBody>;

const IDS = `expected 1 to ${MAX_JOB_ITEMS} ids`;
/** Items by their ids. */
export const chosenIds = z.array(z.string().min(1).max(100)).min(1, IDS).max(MAX_JOB_ITEMS, IDS);
/** Items by their ids, or all that match a filter; `readChoice` in the control role says that it is one of both. */
export const chosenItems = <Filter extends z.ZodType>(filter: Filter) => ({
  ids: chosenIds
    .optional()
    .describe('These; one that is not there, or that the action does not fit, is a failure of the job'),
  ...chosenByFilter(filter),
});
/** All that match a filter, with the number that was counted. */
export const chosenByFilter = <Filter extends z.ZodType>(filter: Filter) => ({
  filter: filter
    .optional()
    .describe('All that match now and that the action fits; the names of the list, with lists for several values'),
  expected: z
    .int()
    .min(0)
    .max(MAX_JOB_ITEMS)
    .optional()
    .describe('With `filter`: how many were counted. Where more match by now, nothing is begun'),
});

export const promotionRequest = z.strictObject({
  resources: z
    .array(z.strictObject({ kind: z.string().max(50), name: z.string().max(200) }))
    .min(1)
    .max(MAX_JOB_ITEMS)
    .optional()
    .describe('Only these. Defaults to all changes of the test environment'),
});
export const backupRequest = z.strictObject({
  file: z.string().min(1).max(4096).describe('An absolute path on the server, of a file that is not there yet'),
});
