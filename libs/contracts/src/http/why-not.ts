import { z } from 'zod';
import { nullable } from './fields.ts';
import { anAddress, ofBodies } from './privacy.ts';

/** Bodies of the management API that say why somebody was not told. */
const time = z.string().describe('RFC 3339, UTC, milliseconds');

export const whyNotRequest = z
  .strictObject({
    who: z.string().min(1).max(4096).describe('The whole of an address, a person or a unique_id'),
    notification: z.string().min(1).max(200).describe('A notification, or a rule of one: `order-paid.paid`'),
    from: z.string().max(40).optional(),
    to: z.string().max(40).optional(),
    last: z.string().max(40).optional().describe('Instead of both; where nothing is said, the last 24 hours'),
    event: z.string().max(200).optional().describe('Only this event'),
    drafts: z
      .boolean()
      .optional()
      .describe('Also evaluates each event with the drafts of the workspace. Nothing is sent'),
    search: z
      .string()
      .max(200)
      .optional()
      .describe(
        'Looks at the events that this run of kind `find` found for `who`, instead of a time range. Needs the permission to start runs',
      ),
    cursor: z
      .string()
      .max(4000)
      .optional()
      .describe('The `next` of the answer to the same question: looks further back'),
  })
  .meta({ id: 'WhyNotQuestion' });

export const gateName = z.enum([
  'event',
  'rule',
  'condition',
  'unless',
  'deadline',
  'recipient',
  'duplicate',
  'in_time',
  'consent',
  'address',
  'schedule',
  'rendered',
  'limits',
  'provider',
  'receipt',
]);
const verdict = z.enum(['told', 'waiting', 'in_doubt', 'stopped']);

export const gateBody = z
  .object({
    gate: gateName,
    title: z.string(),
    result: z.enum(['passed', 'stopped', 'waiting', 'in_doubt', 'not_reached', 'unknown']),
    text: z.string(),
    at: time.nullable(),
    lines: z.array(ofBodies(z.string())).describe('Such as the value of each part of a condition, or each attempt'),
    evidence: z.array(z.object({ kind: z.enum(['event', 'delivery', 'rule', 'notification']), id: z.string() })),
    source: z
      .enum(['projection', 'log', 'state', 'ledger', 'configuration'])
      .nullable()
      .describe('Source of the answer. `log`: the event was evaluated again. `state`: state of the entity’s rules'),
  })
  .meta({ id: 'WhyNotGate' });

const draftOutcome = z
  .object({
    result: z
      .enum(['notified', 'waiting', 'in_doubt', 'stopped', 'unknown'])
      .describe('`unknown`: neither event nor ledger decides it'),
    gate: gateName.nullable().describe('The first gate that is not passed; null: notified'),
    text: z.string(),
    words: z.string().describe('The outcome as text, to follow *With the drafts:*'),
  })
  .meta({ id: 'WhyNotDraftOutcome' });
const withDrafts = nullable(draftOutcome).describe(
  'Outcome of event and rule with the drafts. Null: drafts were not requested, or there is no event',
);

export const whyNotBody = z
  .object({
    workspace: z.string(),
    who: anAddress(z.string()),
    notification: z.string(),
    from: time,
    to: time,
    verdict: z.enum([...verdict.options, 'no_event']),
    sentence: z.string(),
    gate: gateName.nullable().describe('The first gate that was not passed. Null: they were notified'),
    event: z.string().nullable(),
    delivery: z.string().nullable(),
    rule: z.string().nullable(),
    gates: z
      .array(gateBody)
      .describe(
        'All of them in their order, of the event named here. `unless` and `deadline` only of a rule that waits',
      ),
    with_drafts: withDrafts,
    drafts_left_out: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .describe('Drafts of other people that have mistakes. They do not count'),
    others: z
      .array(
        z.object({
          at: time,
          event: z.string(),
          rule: z.string(),
          verdict,
          gate: gateName.nullable(),
          text: z.string(),
          delivery: z.string().nullable(),
          with_drafts: withDrafts,
        }),
      )
      .describe('Further events about them in the span, newest first'),
    last: z
      .object({ event: z.string(), at: time, stream: z.string() })
      .nullable()
      .describe('If no event named them: the newest event of the workspace before the end of the time range'),
    looked: z.object({
      events: z.int().describe('Events of the span that were looked at, newest first'),
      judged_again: z.int(),
      deliveries: z.int().describe('Deliveries of the ledger that were found by who they are to'),
      complete: z
        .boolean()
        .describe('False: there are older events in the span; ask again with `next`, or see `not_kept` if it is null'),
      not_kept: z
        .int()
        .describe(
          'Older events that hold the text and that the search did not keep: a search of an earlier span finds them',
        ),
      since: time.nullable().describe('So far back it looked; null: to the beginning of the span'),
    }),
    next: z.string().nullable(),
  })
  .meta({ id: 'WhyNot' });
export type WhyNotBody = z.infer<typeof whyNotBody>;
