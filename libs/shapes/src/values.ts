/**
 * Values that the shapes show and the domain goes by: written once, here. No zod in this file, so that the domain can use
 * it when it runs.
 */

/**
 * Signature algorithms with public keys. HS* is excluded, because anyone with the public key could sign (RFC 8725,
 * 2.1), and so is `none`.
 */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** The channels that the product has, in the order in which people read them. */
export const CHANNEL_NAMES = ['email', 'sms', 'push'] as const;

/** ISO 8601: weeks begin on Monday. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Windows of a frequency limit that go by the calendar: `calendar day` and so on. */
export const CALENDAR_PERIODS = ['day', 'week', 'month'] as const;
/** Bounds of frequency limits. The minimum period keeps the stored entries per person few. */
export const LIMIT_BOUNDS = { max: 1000, shortest: '1m', longest: '92d', limits: 20 } as const;

/**
 * Bounds of `after`, `after_last` and `cooldown` of a rule. A deadline of `at` is at most as far ahead as the longest.
 */
export const WAIT_BOUNDS = { shortest: '1s', longest: '366d' } as const;
/** Bounds of `forget_after` of a stream. */
export const FORGET_BOUNDS = { shortest: '1d', longest: '3650d' } as const;
/** Bounds of `grace` of a stream. */
export const GRACE_BOUNDS = { shortest: '1s', longest: '1h' } as const;
/** Rules of a stream that count, wait or cool down. They share one memory of each entity, of at most 128 KiB. */
export const MAX_REMEMBERING_RULES = 64;
/** Bounds of the totals of a rule. The windows are those of limits. */
export const TOTAL_BOUNDS = { shortest: LIMIT_BOUNDS.shortest, longest: LIMIT_BOUNDS.longest, totals: 16 } as const;
/** Samples of a rolling total, and different values of a total by the calendar, that are kept of an entity. */
export const MAX_SAMPLES = 500;
/** The `cooldown` that ends at an event for which `when` is false. */
export const UNTIL_FALSE = 'until_false';

/** Kinds of changes of a row. `snapshot`: a connector read an existing row. */
export const CHANGE_OPS = ['create', 'update', 'delete', 'snapshot'] as const;

/** Formats of a stream's events. */
export const STREAM_FORMATS = ['json', 'debezium'] as const;

/** Retention without an end. */
export const FOREVER = 'forever';
/** Topics whose retention `carillon.yaml` sets, in its words: `dead_letters` is `carillon.dead-letters`. The audit has rules of its own. */
export const RETAINED = [
  'events',
  'triggers',
  'lookups',
  'intents',
  'evaluations',
  'outcomes',
  'receipts',
  'cohorts',
  'dead_letters',
] as const;
export type Retained = (typeof RETAINED)[number];
/** Topics that always stay: old events are read by old configurations, and no opt-out is forgotten. */
export const ALWAYS_KEPT = ['config', 'consents'] as const;

/** Defaults of absent keys. Durations as in files. */
export const DEFAULTS = {
  notification: {
    enabled: true,
    retry: { attempts: 8, first: '30s', max: '4h' },
    expires: '24h',
    in_doubt: 'hold',
  },
  rule: { enabled: true, changes: ['create', 'update'], if_past: 'skip' },
  stream: { format: 'json', forget_after: '100d', grace: '10s' },
  quiet_hours: { then: 'hold' },
  digest: { when: 'always', max_items: 100 },
  token_stream: { rate_per_credential: { per_second: 10, burst: 100 } },
  cohort: { first_sync: 'silent' },
  webhook: { first_sync_lasts: '1h' },
  jwt_provider: { algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'], clock_tolerance: '60s' },
} as const;
