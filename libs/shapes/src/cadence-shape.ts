import { z } from 'zod';
import { between, expression, keys, said } from './shape-parts.ts';
import { CHANNEL_NAMES, DEFAULTS, WEEKDAYS } from './values.ts';

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

/** How often and when a person is told, for the messages of one notification. */
export const notificationCadence = keys({
  delay: said(delayShape.exactOptional(), {
    description: 'How long its messages are put off: a time span, until a time in the event, or until a local time.',
    example: '5m',
  }),
  quiet_hours: said(quietHoursShape.exactOptional(), { description: 'When its messages are held or dropped.' }),
});

/** The same for all messages of a workspace that are not transactional. */
export const workspaceCadence = keys({
  quiet_hours: said(quietHoursShape.exactOptional(), {
    description: 'When messages are held or dropped, whatever notification they are of. Transactional ones are sent.',
  }),
});
