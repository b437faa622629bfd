import type { Tone } from '../../ui/state-words.ts';
import { spanWords } from '../../ui/time-words.ts';
import { counted } from '../drafts/change-words.ts';
import type { Source } from './queries.ts';

export const SOURCE_STATES: Readonly<Record<Source['state'], { readonly tone: Tone; readonly words: string }>> = {
  running: { tone: 'good', words: 'Running' },
  waiting: { tone: 'held', words: 'Waiting' },
  stopped: { tone: 'bad', words: 'Stopped' },
  leaving: { tone: 'held', words: 'Leaving' },
};

/** Seconds of lag that count as none: a change takes about this long from its commit to the log. */
const NO_LAG_S = 2;

/** Bytes in the largest unit that is below them: `1.5 MB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** power;
  const text = power === 0 || value >= 100 ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, '');
  return `${text} ${units[power]}`;
}

/** How far a source is behind: `12 s, 1.5 MB not read yet`, for topics `12 s, 340 records not read yet`. Null if it is not known. */
export function lagText({
  state,
  lag_seconds: seconds,
  lag_bytes: bytes,
  lag_records: records,
}: Pick<Source, 'state' | 'lag_seconds' | 'lag_bytes' | 'lag_records'>) {
  if (records !== null) {
    if (state === 'stopped') return `${counted(records, 'record')} in the topics when it stopped`;
    const behind = seconds === null || seconds < NO_LAG_S ? '' : `${spanWords(seconds * 1000)}, `;
    return records === 0 ? 'None' : `${behind}${counted(records, 'record')} not read yet`;
  }
  if (seconds === null) return null;
  if (seconds < NO_LAG_S) return 'None';
  const unread = bytes === null || bytes === 0 ? '' : `, ${bytesText(bytes)} not read yet`;
  return `${spanWords(seconds * 1000)}${unread}`;
}

/** Sources that a person has to look at: stopped ones first. */
export const needingAttention = (sources: readonly Source[]): readonly Source[] => {
  const order: readonly Source['state'][] = ['stopped', 'waiting', 'leaving'];
  return sources
    .filter(({ state }) => state !== 'running')
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
};
