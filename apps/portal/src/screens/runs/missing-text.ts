import type { Schemas } from '../../api/client.ts';
import { counted } from '../drafts/change-words.ts';

/** Ages that a look offers. */
export const AGES = [
  { id: '1h', name: '1 hour' },
  { id: '24h', name: '24 hours' },
  { id: '7d', name: '7 days' },
  { id: '30d', name: '30 days' },
] as const;
export const DEFAULT_AGE = '7d';

/** Returns `33 messages to 31 people`, and the events whose partner is asked. */
export function missingText({ messages, needs_lookup: lookups, people }: Schemas['RunMissing']): string {
  const parts = [
    ...(messages > 0 ? [`${counted(messages, 'message')} to ${counted(people, 'person', 'people')}`] : []),
    ...(lookups.events > 0
      ? [`${counted(lookups.events, 'event')} with ${counted(lookups.user_ids, 'user id')} to ask a partner about`]
      : []),
  ];
  return `${parts.join(', and ')}.`;
}

type Job = Schemas['Job'];

const STATE_WORDS: Readonly<Record<Job['state'], string>> = {
  waiting: 'Under way',
  running: 'Under way',
  done: 'Done',
  cancelled: 'Stopped',
  failed: 'Failed',
};

/** Returns how many items of a job went to delivery, how many failed, and how the job ended. */
export function sendingText({ done, failed, of, state }: Job): string {
  const sent = `${done.toLocaleString('en')} of ${of.toLocaleString('en')} queued for delivery`;
  const failures = failed === 0 ? '' : `, ${failed.toLocaleString('en')} failed`;
  return `${STATE_WORDS[state]}: ${sent}${failures}.`;
}

type Stopped = Pick<Schemas['RunStop'], 'waiting_lookups' | 'uncounted_lookups'>;

/** Returns what a stop could not recall, or null. */
export function waitingText({ waiting_lookups: waiting, uncounted_lookups: uncounted }: Stopped): string | null {
  if (waiting + uncounted === 0) return null;
  const fix = 'Undo the sending once more after the answer, to cancel the messages that come of it.';
  if (uncounted === 0) return `${counted(waiting, 'question')} to a partner cannot be recalled. ${fix}`;
  return `${counted(waiting, 'question')} to a partner, and maybe some of ${uncounted} older ones, cannot be recalled. ${fix}`;
}

/** Highest rate of a sending job. */
const MAX_RATE = 1_000;

/** Returns the rate that was typed, or null if it is not a whole number of messages per second. */
export function readRate(text: string): number | null {
  const rate = Number(text);
  return /^\d{1,4}$/.test(text.trim()) && rate >= 1 && rate <= MAX_RATE ? rate : null;
}
