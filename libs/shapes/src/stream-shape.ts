import { CONTROL } from '@carillon/kernel';
import { z } from 'zod';
import { streamSecurity } from './security-shapes.ts';
import { between, expression, keys, said, slug } from './shape-parts.ts';
import { DEFAULTS, FORGET_BOUNDS, GRACE_BOUNDS, STREAM_FORMATS } from './values.ts';

const origin = z.string().regex(/^https?:\/\/[^/\s]+$/, { error: 'an origin such as https://app.example.com' });
const rate = keys({
  per_second: said(z.number().positive({ error: 'a number above 0' }), {
    description: 'Events per second.',
    example: 100,
  }),
  burst: said(z.int().positive({ error: 'a whole number above 0' }).exactOptional(), {
    description: 'Burst size in events. Defaults to `per_second`.',
    example: 200,
  }),
});
const { rate_per_credential: TOKEN_RATE } = DEFAULTS.token_stream;

/** Settings that shared streams and streams of rules have in common. */
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
/** On a cluster, the topics of Carillon itself hold the events of every workspace. */
const topic = z.string().regex(/^(?!\.{1,2}$|carillon\.)[A-Za-z0-9._-]{1,249}$/, {
  error: 'a topic of letters, digits, ., - and _, at most 249, that does not begin with carillon.',
});
/** The check of the stream says which table or topic it belongs to. */
const column = z
  .string()
  .max(320, { error: 'at most 320 characters' })
  .regex(/^[^\n]+\.[^\n]+$/, { error: 'schema.table.column, such as public.orders.card_number' });

const MAX_TABLES = 100;
/** Keys by the name of a table or topic. */
const keyed = (name: z.ZodString, one: string) =>
  z.record(name, expression()).refine((of) => Object.keys(of).length > 0 && Object.keys(of).length <= MAX_TABLES, {
    error: `${one}, at most ${MAX_TABLES}`,
  });

export const fromShape = keys({
  integration: said(slug, {
    description:
      'Name of the database or Kafka cluster (integrations/<name>.yaml, of kind `postgres` or `kafka`). Fixed at creation.',
    example: 'shop-db',
  }),
  tables: said(keyed(table, 'one table').exactOptional(), {
    description:
      'Tables as `schema.table`, each with the path of its key: rows with one key are evaluated in order, across tables. The path of a listed table is fixed.',
    example: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
  }),
  topics: said(keyed(topic, 'one topic').exactOptional(), {
    description:
      'In place of `tables`: topics, each with the path of its key. A new topic is read from its end. The path of a listed topic is fixed.',
    example: { 'app.public.orders': 'event.id' },
  }),
  without: said(z.array(column).exactOptional(), {
    description:
      'Columns that never reach Carillon’s log, as `schema.table.column`; with `format: debezium` as `topic.column`. Not for topics of JSON.',
    default: [],
    example: ['public.orders.card_number'],
  }),
}).refine(hasTablesOrTopics, {
  path: ['tables'],
  error: 'tables: { schema.table: event.id }, or topics: { topic: event.id }',
  when: () => true,
});

function hasTablesOrTopics(from: unknown): boolean {
  return typeof from !== 'object' || from === null || Object.hasOwn(from, 'tables') || Object.hasOwn(from, 'topics');
}

const EITHER = 'security: { api_keys: [name] } or { jwt_provider: name }, or from: { integration: name, tables: … }';
const hasOrigin = (body: unknown): boolean =>
  typeof body !== 'object' || body === null || Object.hasOwn(body, 'security') || Object.hasOwn(body, 'from');

/** A grace is about the own time of events. */
const isGraceTimed = (body: unknown): boolean =>
  typeof body !== 'object' || body === null || !Object.hasOwn(body, 'grace') || Object.hasOwn(body, 'time');

export const streamShape = keys({
  from: said(fromShape.exactOptional(), {
    description:
      'Database or Kafka cluster from which Carillon reads the events of this stream. Excludes `security`, `key`, `cors_origins`, `rate` and `rate_per_credential`. Fixed at creation.',
  }),
  key: said(expression().exactOptional(), {
    description:
      'Path of the entity that an event is about. Events of one entity are evaluated in order; an event without it is refused. Fixed at creation.',
    example: 'event.order_id',
  }),
  time: said(expression().exactOptional(), {
    description:
      'Path of the event’s own time (RFC 3339). Defaults to the time of arrival, for a change to its commit time, and for a record of a topic to the time of the record. Fixed at creation.',
    example: 'event.updated_at',
  }),
  grace: said(between(GRACE_BOUNDS.shortest, GRACE_BOUNDS.longest).exactOptional(), {
    description:
      'Beside `time`: how long after its deadline a wait ends, so that events that come out of order still count.',
    otherwise: `${DEFAULTS.stream.grace} beside \`time\``,
  }),
  format: said(z.enum(STREAM_FORMATS).exactOptional(), {
    description:
      'What is sent or read. `json`: an event. `debezium`: the envelope of a change, as Debezium writes it; rules see the row, and `previous` and `op`. Fixed at creation.',
    default: DEFAULTS.stream.format,
  }),
  forget_after: said(between(FORGET_BOUNDS.shortest, FORGET_BOUNDS.longest).exactOptional(), {
    description:
      'How long rules remember an entity after its last change; at least the longest `cooldown`. Waits are kept until they end.',
    otherwise: `${DEFAULTS.stream.forget_after}, or the longest \`cooldown\` of the rules on this stream if that is longer`,
    example: '30d',
  }),
  security: said(streamSecurity.exactOptional(), {
    description: 'Who may send events here. Required, unless the stream has `from`.',
  }),
  ...streamSettings,
})
  .refine(hasOrigin, { path: ['security'], error: EITHER, when: () => true })
  .refine(isGraceTimed, { path: ['grace'], error: 'grace beside time: event.updated_at', when: () => true });
