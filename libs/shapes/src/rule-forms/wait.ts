import { z } from 'zod';
import { between, expression, said } from '../shape-parts.ts';
import { DEFAULTS, WAIT_BOUNDS } from '../values.ts';

const { shortest, longest } = WAIT_BOUNDS;
const span = between(shortest, longest).exactOptional();

/** Keys of a rule that decides later: at a deadline, unless an event of the same entity comes first. */
export const waitKeys = {
  after: said(span, {
    description:
      'The rule fires this long after the first match of an entity, with the newest match as its event. One of `after`, `after_last` and `at`.',
    example: '1h',
  }),
  after_last: said(span, {
    description: 'As `after`, counted from the newest match of the entity: each match moves the deadline.',
    example: '10m',
  }),
  at: said(expression().exactOptional(), {
    description:
      'The rule fires at this time, with the newest match as its event. Null or a missing field ends the wait of an earlier match.',
    example: 'timestamp(event.starts_at) - duration("24h")',
  }),
  unless: said(expression().exactOptional(), {
    description: 'Boolean: an event of the entity for which it is true ends the wait, until the deadline and at it.',
    example: 'event.type == "paid"',
  }),
  if_past: said(z.enum(['skip', 'notify']).exactOptional(), {
    description: 'What happens if `at` is already past when the match arrives. `notify`: the rule fires at once.',
    default: DEFAULTS.rule.if_past,
  }),
};
