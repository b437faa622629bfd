import { CONTROL } from '@carillon/kernel';
import { z } from 'zod';
import { security } from './security-shapes.ts';
import { expression, keys, said, slug } from './shape-parts.ts';
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

/** A name of PostgreSQL, of at most 63 bytes there. A dot separates schema and table, so neither has one. */
const NAME = String.raw`[^.\s](?:[^.]{0,61}[^.\s])?`;
const nameLike = (pattern: string, error: string) =>
  z
    .string()
    .regex(new RegExp(`^${pattern}$`), { error })
    .refine((text) => !CONTROL.test(text), { error });
const table = nameLike(String.raw`${NAME}\.${NAME}`, 'schema.table, such as public.orders');
const column = nameLike(
  String.raw`${NAME}\.${NAME}\.[^\n]{1,63}`,
  'schema.table.column, such as public.orders.card_number',
);

const MAX_TABLES = 100;
const FEW_TABLES = `one table, at most ${MAX_TABLES}`;

export const fromShape = keys({
  integration: said(slug, {
    description: 'Name of the database (integrations/<name>.yaml, of kind `postgres`). Fixed at creation.',
    example: 'shop-db',
  }),
  tables: said(
    z
      .record(table, expression())
      .refine((tables) => Object.keys(tables).length > 0 && Object.keys(tables).length <= MAX_TABLES, {
        error: FEW_TABLES,
      }),
    {
      description:
        'Tables as `schema.table`, each with the path of its key: rows with one key are judged in order, across tables. Tables may be added and removed; the path of a table is fixed while it is listed.',
      example: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
    },
  ),
  without: said(z.array(column).exactOptional(), {
    description: 'Columns that never reach Carillon’s log, as `schema.table.column`.',
    default: [],
    example: ['public.orders.card_number'],
  }),
});

const EITHER = 'security: { api_keys: [name] } or { jwt_provider: name }, or from: { integration: name, tables: … }';
const hasOrigin = (body: unknown): boolean =>
  typeof body !== 'object' || body === null || Object.hasOwn(body, 'security') || Object.hasOwn(body, 'from');

export const streamShape = keys({
  from: said(fromShape.exactOptional(), {
    description:
      'Database whose changes are the events of this stream. Nobody sends events here then: `security`, `key`, `cors_origins`, `rate` and `rate_per_credential` are refused beside it. Fixed at creation.',
  }),
  key: said(expression().exactOptional(), {
    description:
      'Path of the entity that an event is about. Events of one entity are judged in order; an event without it is refused. Fixed at creation.',
    example: 'event.order_id',
  }),
  time: said(expression().exactOptional(), {
    description:
      'Path of the event’s own time (RFC 3339). Left out, the time of arrival counts, and for a change of a database its commit time. Fixed at creation.',
    example: 'event.updated_at',
  }),
  format: said(z.literal('json').exactOptional(), { description: 'What the events are.', default: 'json' }),
  security: said(security.exactOptional(), {
    description: 'Who may send events here. Required, unless the stream has `from`.',
  }),
  ...streamSettings,
}).refine(hasOrigin, { path: ['security'], error: EITHER, when: () => true });
