import { z } from 'zod';
import { security } from './security-shapes.ts';
import { expression, keys, said } from './shape-parts.ts';
import { DEFAULTS } from './values.ts';

const origin = z.string().regex(/^https?:\/\/[^/\s]+$/, { error: 'an origin such as https://app.example.com' });
const rate = keys({
  per_second: said(z.number().positive({ error: 'a number above 0' }), {
    description: 'Events per second.',
    example: 100,
  }),
  burst: said(z.int().positive({ error: 'a whole number above 0' }).exactOptional(), {
    description: 'Events that may come at once; left out, as many as `per_second`.',
    example: 200,
  }),
});
const { rate_per_credential: TOKEN_RATE } = DEFAULTS.token_stream;

/** What shared streams and those of rules may set alike. */
export const streamSettings = {
  cors_origins: said(z.array(origin).exactOptional(), {
    description: 'Origins of web pages that may send events from a browser. None unless named.',
    default: [],
    example: ['https://app.example.com'],
  }),
  rate: said(rate.exactOptional(), {
    description: 'Limit of events; what is over it is answered with 429. No limit unless set.',
  }),
  rate_per_credential: said(rate.exactOptional(), {
    description:
      'The same for each API key, or for each user of a JWT provider (`sub`). Where tokens may send, there is always one.',
    otherwise: `with \`jwt_provider\` ${TOKEN_RATE.per_second} per second and ${TOKEN_RATE.burst} at once, else none`,
  }),
};

export const streamShape = keys({
  key: said(expression().exactOptional(), {
    description:
      'Path of the entity that an event is about. Events of one entity are judged in order; an event without it is refused. Fixed at creation.',
    example: 'event.order_id',
  }),
  time: said(expression().exactOptional(), {
    description: 'Path of the event’s own time (RFC 3339). Left out, the time of arrival counts. Fixed at creation.',
    example: 'event.updated_at',
  }),
  format: said(z.literal('json').exactOptional(), { description: 'What the events are.', default: 'json' }),
  security: said(security, { description: 'Who may send events here.' }),
  ...streamSettings,
});
