import { z } from 'zod';
import { between, said } from '../shape-parts.ts';
import { UNTIL_FALSE, WAIT_BOUNDS } from '../values.ts';

const { shortest, longest } = WAIT_BOUNDS;

/** Key of a rule that does not fire at every match of an entity. */
export const cooldownKeys = {
  cooldown: said(
    z
      .union([z.literal(UNTIL_FALSE), between(shortest, longest)], {
        error: `${UNTIL_FALSE}, or a duration from ${shortest} to ${longest}`,
      })
      .exactOptional(),
    {
      description:
        'Matches of an entity within the cooldown do not fire. `until_false`: until an event for which `when` is false. A duration: since the rule last fired for the entity.',
      otherwise: 'the rule fires at each match',
      example: '1h',
    },
  ),
};
