import { z } from 'zod';
import { between, expression, keys, said, slug, windowBetween } from './shape-parts.ts';
import { CHANNEL_NAMES, DEFAULTS, LIMIT_BOUNDS, WEEKDAYS } from './values.ts';

const wallTime = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'a time such as "21:00", in quotes' });

/** Hours by the clock on the recipient's wall in which nothing is sent. */
export const quietHoursShape = keys({
  from: said(wallTime, { description: 'When they begin, by the recipient’s clock.', example: '21:00' }),
  to: said(wallTime, { description: 'When they end; before `from` it is the day after.', example: '08:00' }),
  days: said(z.array(z.enum(WEEKDAYS)).min(1, { error: 'at least one day' }).exactOptional(), {
    description: 'Days on which they begin.',
    otherwise: 'every day',
    example: ['mon', 'tue', 'wed', 'thu', 'fri'],
  }),
  channels: said(z.array(z.enum(CHANNEL_NAMES)).min(1, { error: 'at least one channel' }).exactOptional(), {
    description: 'Channels that they count for.',
    otherwise: 'all',
    example: ['sms', 'push'],
  }),
  then: said(z.enum(['hold', 'drop']).exactOptional(), {
    description: '`hold`: the message waits until they end. `drop`: it is never sent.',
    default: DEFAULTS.quiet_hours.then,
  }),
});

/** How long a message is put off, from when the log has its cause. One of three forms. */
export const delayShape = z.union(
  [
    between('1s', '366d').meta({ kind: 'duration' }),
    keys({ until: said(expression(), { description: 'A time, as a timestamp or as text (RFC 3339).' }) }),
    keys({ local_time: said(wallTime, { description: 'The next such time on the recipient’s clock.' }) }),
  ],
  { error: '5m, { until: event.starts_at } or { local_time: "09:00" }' },
);

const window = windowBetween(LIMIT_BOUNDS.shortest, LIMIT_BOUNDS.longest);
const most = `a whole number from 1 to ${LIMIT_BOUNDS.max}`;
const limitKeys = {
  max: said(
    z.number({ error: most }).int({ error: most }).min(1, { error: most }).max(LIMIT_BOUNDS.max, { error: most }),
    {
      description:
        'So many messages to one person at most. Several devices of one event on one channel are one message.',
      example: 3,
    },
  ),
  per: said(window, {
    description: 'Within this time: rolling, or by the calendar of the recipient (weeks begin on Monday).',
    example: '1d',
  }),
  then: said(z.enum(['drop', 'hold', 'digest']), {
    description:
      '`drop`: what is more is never sent. `hold`: it waits until there is room. `digest`: it goes into the digest of the notification; without one it waits.',
  }),
};

/** How many messages of a notification one person gets at most. */
export const notificationLimitShape = keys({
  ...limitKeys,
  channels: said(z.array(z.enum(CHANNEL_NAMES)).min(1, { error: 'at least one channel' }).exactOptional(), {
    description: 'Channels whose messages count, together.',
    otherwise: 'all',
    example: ['sms'],
  }),
});

/** A limit across all notifications of a workspace that are not transactional. */
export const workspaceLimitShape = keys({
  ...limitKeys,
  category: said(slug.exactOptional(), {
    description: 'Only messages of notifications of this category count.',
    otherwise: 'all',
    example: 'marketing',
  }),
  channel: said(z.enum(CHANNEL_NAMES).exactOptional(), {
    description: 'Only messages on this channel count.',
    otherwise: 'all',
    example: 'sms',
  }),
});

const fewEnough = { error: `at most ${LIMIT_BOUNDS.limits} limits` };

const windowLength = () => between('1m', '31d').meta({ kind: 'duration' });

/** How long a digest collects. One of three forms. */
export const digestWindowShape = z.union(
  [
    keys({ fixed: said(windowLength(), { description: 'So long after its first item.', example: '1h' }) }),
    keys({
      sliding: said(windowLength(), { description: 'So long after its newest item.', example: '10m' }),
      at_most: said(windowLength(), { description: 'Maximum time after its first item.', example: '2h' }),
    }),
    keys({
      at: said(z.array(wallTime).min(1, { error: 'at least one time' }).max(24, { error: 'at most 24 times' }), {
        description: 'At the next of these times on the recipient’s clock.',
        example: ['08:00', '17:00'],
      }),
      days: said(z.array(z.enum(WEEKDAYS)).min(1, { error: 'at least one day' }).exactOptional(), {
        description: 'Days on which it is sent.',
        otherwise: 'every day',
        example: ['mon', 'tue', 'wed', 'thu', 'fri'],
      }),
    }),
  ],
  { error: '{ fixed: 1h }, { sliding: 10m, at_most: 2h } or { at: ["08:00", "17:00"] }' },
);

/** Several messages to one address become one. */
export const digestShape = keys({
  when: said(z.enum(['always', 'over_limit']).exactOptional(), {
    description:
      '`always`: every message waits for its digest. `over_limit`: only those that a limit with `then: digest` holds back.',
    default: DEFAULTS.digest.when,
  }),
  key: said(expression().exactOptional(), {
    description:
      'What items of one digest have in common besides the address: text or a number. Sees what `where` sees.',
    otherwise: 'the person',
    example: 'event.project',
  }),
  window: said(digestWindowShape, { description: 'How long it collects.', example: { fixed: '1h' } }),
  max_items: said(z.int().min(1, { error: '1 to 500' }).max(500, { error: '1 to 500' }).exactOptional(), {
    description: 'A digest with so many items is sent at once.',
    default: DEFAULTS.digest.max_items,
  }),
  template: said(slug.exactOptional(), {
    description: 'Name of the template of digests, with a part for every channel.',
    otherwise: 'the channel’s own',
    example: 'orders-digest',
  }),
});

/** Cadence keys of one notification. */
export const notificationCadence = keys({
  limits: said(z.array(notificationLimitShape).max(LIMIT_BOUNDS.limits, fewEnough).exactOptional(), {
    description: 'Maximum number of its messages per person. The limits of the workspace apply as well.',
  }),
  delay: said(delayShape.exactOptional(), {
    description: 'How long its messages are put off: a time span, until a time in the event, or until a local time.',
    example: '5m',
  }),
  quiet_hours: said(quietHoursShape.exactOptional(), { description: 'When its messages are held or dropped.' }),
  digest: said(digestShape.exactOptional(), { description: 'Several messages to one address become one.' }),
});

/** Cadence settings for all messages of a workspace that are not transactional. */
export const workspaceCadence = keys({
  limits: said(z.array(workspaceLimitShape).max(LIMIT_BOUNDS.limits, fewEnough).exactOptional(), {
    description:
      'How many messages one person gets at most, whatever notification they are of. Transactional ones are sent, and not counted.',
  }),
  quiet_hours: said(quietHoursShape.exactOptional(), {
    description: 'When messages are held or dropped, whatever notification they are of. Transactional ones are sent.',
  }),
});
