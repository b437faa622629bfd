import type { FaultPhrases } from './fault-text.ts';

type Code =
  | 'quiet_hours_ignored'
  | 'quiet_hours_ambiguous'
  | 'quiet_hours_endless'
  | 'quiet_hours_outlast_expiry'
  | 'limit_ignored'
  | 'limit_without_digest'
  | 'limit_outlasts_expiry'
  | 'digest_outlasts_expiry'
  | 'digest_window_short'
  | 'time_repeated';

const whose = (notification: string, quote: (name: string) => string): string =>
  notification === '' ? '' : ` of ${quote(notification)}`;

/** A notification whose `expires` does not fit the cadence of its workspace has the fault there. */
const ofWorkspace = (path: string): string => (path === 'expires' ? ' of the workspace' : '');

/** Sentences about quiet hours, limits and digests. */
export const CADENCE_PHRASES: FaultPhrases<Code> = {
  quiet_hours_ignored: () => ({
    message: 'quiet hours do not apply: the notification is transactional',
    expected: '',
    fix: 'remove transactional, or remove the quiet hours',
    formFix: 'Remove the quiet hours, or make it non-transactional.',
  }),
  quiet_hours_ambiguous: ({ at }, { kind }) => ({
    message: `the quiet hours start and end at ${at}`,
    expected: 'another time than from',
    fix: `write another time; ${kind === 'workspace' ? 'leave the hours out' : 'to send nothing at all, write enabled: false'}`,
    formFix: 'Choose another end, or switch the quiet hours off.',
  }),
  quiet_hours_endless: ({ channels, notification }, { channelNames, quote }) => ({
    message: `the quiet hours leave no time to send ${channelNames(channels)}${whose(notification, quote)}`,
    expected: 'quiet hours that end, together with those of the workspace',
    fix: 'shorten the quiet hours, or remove days or channels',
    formFix: 'Shorten them, or leave out days or channels.',
  }),
  quiet_hours_outlast_expiry: ({ expires, length, notification }, { path, quote }) => ({
    message: `the quiet hours${ofWorkspace(path)} last ${length}, and messages${whose(notification, quote)} are given up after ${expires}`,
    expected: '',
    fix: `write expires: ${length} or longer, or then: drop in the quiet hours if that is meant`,
    formFix: `Give messages up after ${length} or later.`,
  }),
  limit_ignored: () => ({
    message: 'limits do not apply: the notification is transactional',
    expected: '',
    fix: 'remove transactional, or remove these limits',
    formFix: 'Remove the limits, or make it non-transactional.',
  }),
  limit_without_digest: () => ({
    message: 'the notification has no digest to collect the messages over the limit',
    expected: 'drop, hold, or digest together with cadence.digest',
    fix: 'write then: hold, or give the notification a digest',
    formFix: 'Hold the rest back, or switch the digest on.',
  }),
  limit_outlasts_expiry: ({ limit, expires, length, notification }, { path, quote }) => ({
    message: `the limit${ofWorkspace(path)} of ${limit} holds messages for up to ${length}, and messages${whose(notification, quote)} are given up after ${expires}`,
    expected: '',
    fix: `write expires: ${length} or longer, or then: drop in the limit if that is meant`,
    formFix: `Give messages up after ${length} or later, or drop the rest.`,
  }),
  digest_outlasts_expiry: ({ expires, length }) => ({
    message: `the digest collects for up to ${length}, and messages are given up after ${expires}`,
    expected: '',
    fix: `write expires: ${length} or longer, or a shorter window`,
    formFix: `Give messages up after ${length} or later, or collect for less time.`,
  }),
  digest_window_short: ({ step }) => ({
    message: `the digest ends before ${step} have passed since its first item`,
    expected: `${step} or longer`,
    fix: 'write a longer at_most, or { fixed: … } if it is to end after a fixed time',
    formFix: `Choose an end of ${step} or later.`,
  }),
  time_repeated: ({ time }) => ({
    message: `${time} is in the list twice`,
    expected: 'each time once',
    fix: 'remove one of them',
    formFix: 'Remove one of them.',
  }),
};
