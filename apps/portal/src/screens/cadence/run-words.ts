import { dayOf } from '../../ui/time-words.ts';
import type { Message, Run, Simulated } from './simulate.ts';

const counted = (count: number): string => count.toLocaleString('en');

/** A span as people say it: `5 h`, `40 min`. */
export function spanWords(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** What becomes of all messages of a run, in one sentence. */
export function runSentence(run: Run): string {
  const { messages, people, at_once: atOnce, held, held_median: median, digested, digests, dropped } = run;
  if (messages === 0) return 'No message.';
  const parts = [
    `${counted(atOnce)} at once`,
    ...(held > 0 ? [`${counted(held)} held${median === null ? '' : ` (median ${spanWords(median)})`}`] : []),
    ...(digested > 0 ? [`${counted(digested)} in ${counted(digests)} ${digests === 1 ? 'digest' : 'digests'}`] : []),
    ...(dropped > 0 ? [`${counted(dropped)} dropped`] : []),
  ];
  const who = `${counted(people)} ${people === 1 ? 'person' : 'people'}`;
  return `${counted(messages)} ${messages === 1 ? 'message' : 'messages'} to ${who}: ${parts.join(' · ')}.`;
}

/** The title of the drawing: an invented week is not called the last one. */
export const groundTitle = ({ history }: Pick<Simulated, 'history'>): string =>
  history === 'example' ? 'Example week' : 'Last 7 days';

/** Describes the data behind the drawing: the history, a sample of it, or an example. */
export function groundWords({ history, words, is_sample: isSample }: Simulated): string {
  if (history === 'example') return `Example: ${words}.`;
  return isSample ? `A sample: ${words}.` : 'All messages of the last 7 days.';
}

/** Describes the effect of a change on people in one sentence, or null without effect. */
export function changeSentence(now: Run, proposed: Run): string | null {
  const parts = (
    [
      ['at once', proposed.at_once - now.at_once],
      ['held', proposed.held - now.held],
      ['in digests', proposed.digested - now.digested],
      ['dropped', proposed.dropped - now.dropped],
    ] as const
  ).flatMap(([words, more]) =>
    more === 0 ? [] : [`${counted(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} ${words}`],
  );
  return parts.length === 0 ? null : `With this draft: ${parts.join(', ')}.`;
}

const FATES: Readonly<Record<Message['fate'], string>> = {
  sent: 'at once',
  held: 'held',
  digested: 'in a digest',
  dropped: 'dropped',
};

/** Describes how many of a person's messages have each fate. */
export function personWords(messages: readonly Message[]): string {
  const counts = (['sent', 'held', 'digested', 'dropped'] as const).flatMap((fate) => {
    const count = messages.filter((one) => one.fate === fate).length;
    return count === 0 ? [] : [`${count} ${FATES[fate]}`];
  });
  return counts.join(', ');
}

/** Describes one message; `time` formats its times. */
export function messageWords({ caused_at: caused, at, fate, by }: Message, time: (at: string) => string): string {
  const why = by === null ? '' : ` by ${by}`;
  if (fate === 'sent') return `${time(caused)}: at once`;
  if (fate === 'held') return `${time(caused)}: held until ${time(at)}${why}`;
  if (fate === 'digested') return `${time(caused)}: in the digest of ${time(at)}`;
  return `${time(caused)}: dropped${why}`;
}

export type Day = { readonly day: string; readonly came: number; readonly went: number; readonly dropped: number };

/** Returns the bars added up by day of a time zone, for the table. */
export function byDay(buckets: Run['buckets'], zone: string): readonly Day[] {
  const days = new Map<string, Day>();
  for (const { at, came, went, dropped } of buckets) {
    const day = dayOf(new Date(at), zone);
    const sum = days.get(day) ?? { day, came: 0, went: 0, dropped: 0 };
    days.set(day, { day, came: sum.came + came, went: sum.went + went, dropped: sum.dropped + dropped });
  }
  return [...days.values()];
}

/** Where a moment stands between two others, from 0 to 1. */
export function placeIn(at: string, from: string, to: string): number {
  const [moment, begin, end] = [Date.parse(at), Date.parse(from), Date.parse(to)];
  return end <= begin ? 0 : Math.min(1, Math.max(0, (moment - begin) / (end - begin)));
}
