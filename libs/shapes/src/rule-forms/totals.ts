import { z } from 'zod';
import { expression, keys, said, windowBetween } from '../shape-parts.ts';
import { TOTAL_BOUNDS } from '../values.ts';

const { shortest, longest, totals: most } = TOTAL_BOUNDS;

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
const NAME_WORDS = 'a name of letters, digits and _ (at most 32, a letter first)';

const totalShape = keys({
  count: said(expression().exactOptional(), {
    description: 'Boolean: counts the events of the entity for which it is true. One of `count`, `sum` and `distinct`.',
    example: 'event.result == "failed"',
  }),
  sum: said(expression().exactOptional(), {
    description: 'Adds up this number of each event. A value that is no number is left out and recorded.',
    example: 'event.amount',
  }),
  distinct: said(expression().exactOptional(), {
    description: 'Counts the different values: texts, numbers, true and false. Null is no value.',
    example: 'event.country',
  }),
  where: said(expression().exactOptional(), {
    description: 'Boolean: the events that `sum` or `distinct` looks at.',
    otherwise: 'all events of the entity',
    example: 'event.result == "ok"',
  }),
  within: said(windowBetween(shortest, longest), {
    description:
      'The window: this long up to the event, or the day, week or month of the workspace’s calendar (weeks begin on Monday).',
    example: '10m',
  }),
});

/** Key of a rule that counts events of an entity. */
export const totalsKeys = {
  totals: said(
    z
      .record(z.string().regex(NAME, { error: NAME_WORDS }), totalShape)
      .refine((totals) => Object.keys(totals).length <= most, { error: `at most ${most} totals` })
      .exactOptional(),
    {
      description:
        'Totals over the events of an entity, by names of your choice. `when`, `unless`, recipients and templates read them as `totals.<name>`.',
    },
  ),
};
