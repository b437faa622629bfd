import {
  DEFAULT_MISSING_AGE,
  MISSING_DIFFERENCES,
  MISSING_SLOT_STATES,
  type MissingSelection,
} from '@carillon/domain/runs';
import { CarillonError, parseDuration, parseInstant, type Instant } from '@carillon/kernel';
import { z } from 'zod';
import { someOfWords } from '../routes/app.ts';

/** Fields that select missing messages, in the query of a look and in the body of a send. */
export const selectionFields = {
  difference: someOfWords('difference', MISSING_DIFFERENCES)
    .optional()
    .describe('Defaults to `added`. `needs_lookup` selects events whose recipients only a partner knows'),
  slot: someOfWords('slot state', MISSING_SLOT_STATES)
    .optional()
    .describe(
      'Defaults to `none`. `stopped` selects messages that ended unsent and were never in doubt; cancelled ones are never sent',
    ),
  rule: z
    .array(z.string().max(400))
    .min(1, 'takes one rule or several')
    .max(1000)
    .optional()
    .describe('`notification.rule`. Defaults to all rules of the comparison'),
  max_age: z
    .string()
    .max(40)
    .optional()
    .describe('Maximum age of an event, such as `24h`; the default is `7d`. Older events are left out and counted'),
  since: z
    .string()
    .max(40)
    .optional()
    .describe('Instead of `max_age`: the `since` of a look, so that the same events are meant as time passes'),
};
type SelectionTexts = z.infer<z.ZodObject<typeof selectionFields>>;

const refused = (field: 'max_age' | 'since', detail: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${detail}`, { pointer: `/${field}` });

/** Returns the selection of a request at `now`. Throws CarillonError `invalid_request` for a wrong age or time. */
export function readSelection(
  { difference = ['added'], slot = ['none'], rule, max_age, since }: SelectionTexts,
  now: Instant,
): MissingSelection {
  return {
    differences: [...new Set(difference)],
    slotStates: [...new Set(slot)],
    rules: rule ?? null,
    since: since === undefined ? now - readAge(max_age) : readSince(since, max_age),
  };
}

function readAge(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MISSING_AGE;
  const age = parseDuration(text);
  if (!age.ok) throw refused('max_age', age.error);
  return age.value;
}

function readSince(text: string, maxAge: string | undefined): Instant {
  if (maxAge !== undefined) throw refused('since', 'already gives the maximum age: leave max_age out');
  const since = parseInstant(text);
  if (since === undefined) throw refused('since', `expected a time such as 2026-11-22T09:00:00Z; found ${text}`);
  return since;
}
