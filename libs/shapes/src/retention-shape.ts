import { parseDuration } from '@carillon/kernel';
import { z } from 'zod';
import { keys, said } from './shape-parts.ts';
import { FOREVER, RETAINED, type Retained } from './values.ts';

/** An investigation goes back this long, so the audit is not kept shorter. */
const SHORTEST_AUDIT = '30d';
const DAYS = /^[1-9]\d{0,4}d$/;

const spanOf = (text: string): number => {
  const read = parseDuration(text);
  return read.ok ? read.value : Number.NaN;
};
const isAtLeast = (text: string, least: string): boolean => spanOf(text) >= spanOf(least);

const auditTime = z.string().refine((text) => text === FOREVER || isAtLeast(text, SHORTEST_AUDIT), {
  error: `a duration of at least ${SHORTEST_AUDIT}, or ${FOREVER}`,
});

const days = z
  .string()
  .refine((text) => text === FOREVER || DAYS.test(text), { error: `days such as 90d, or ${FOREVER}` });

const WORDS: Readonly<Record<Retained, string>> = {
  events: 'How long source events are kept, and what `events`, `trace` and the fields of a stream show of them.',
  triggers: 'How long firings that ask a partner are kept.',
  lookups: 'How long responses of partners are kept.',
  intents: 'How long messages on the log are kept. The ledger of deliveries stays.',
  evaluations: 'How long the outcomes of each range of events are kept.',
  outcomes: 'How long moves of deliveries are kept on the log. The ledger of deliveries stays.',
  receipts: 'How long reports of providers are kept.',
  cohorts: 'How long messages of analytics platforms are kept.',
  dead_letters: 'How long records that could not be processed are kept. In a data folder, an open one stays.',
};

const topicTimes = Object.fromEntries(
  RETAINED.map((name) => [
    name,
    said(days.exactOptional(), {
      description: WORDS[name],
      otherwise: '[30d](retention.md)',
      example: '90d',
    }),
  ]),
) as Record<Retained, z.ZodExactOptional<typeof days>>;

/** How long each topic is kept: days, or `forever`. Configuration and consents are not here, because they always stay. */
export const retentionShape = keys({
  audit: said(auditTime.exactOptional(), {
    description:
      'How long the audit is kept. Older entries are deleted once an hour up to a seal, and the audit records the deletion.',
    otherwise: 'for ever',
    example: '400d',
  }),
  ...topicTimes,
});
