import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';

/** Bodies of the management API about events that wait for a partner. */

const lastCall = z
  .object({
    at: time,
    outcome: z.string().describe('Such as `unavailable`, `unauthorized`, `throttled` or `refused`'),
    status: z.int().nullable().describe('Null: no answer'),
    detail: z.string(),
  })
  .meta({ id: 'PartnerCall' });

export const waitingPartnerBody = z
  .object({
    workspace: z.string(),
    integration: z.string(),
    events: z.int().describe('Events that wait for an answer of the partner'),
    complete: z.boolean().describe('False: there are more than were counted'),
    failing_since: nullable(time).describe('Since when the partner has not answered; null: no call has failed'),
    last_failure: lastCall.nullable(),
    next_attempt_at: time.describe('In the past: the call is under way'),
  })
  .meta({ id: 'WaitingPartner' });
export const waitingPartnerPage = pageOf(waitingPartnerBody).meta({ id: 'WaitingPartnerPage' });
export type WaitingPartnerBody = z.infer<typeof waitingPartnerBody>;

export const waitingEventBody = z
  .object({
    trigger_id: z.string(),
    event_id: z.string().nullable(),
    rule: z.string().nullable(),
    user_ids: z.int().describe('Number of user ids of the lookup'),
    since: nullable(time).describe('When the event began to wait'),
    calls: z.int(),
    last_call: lastCall.nullable(),
    next_attempt_at: time.describe('In the past: the call is under way'),
    gives_up_at: nullable(time).describe('After this the event becomes a dead letter'),
  })
  .meta({ id: 'WaitingEvent' });
export const waitingEventPage = pageOf(waitingEventBody).meta({ id: 'WaitingEventPage' });
export type WaitingEventBody = z.infer<typeof waitingEventBody>;
