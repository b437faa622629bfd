import { styleText } from 'node:util';
import { isCarillonError, messageOf } from '@carillon/kernel';
import { CommanderError } from 'commander';
import { CommandError, UsageError } from './failure.ts';
import { environment } from './config.ts';
import { localTime } from './local-time.ts';

export type Style = 'dim' | 'bold' | 'red' | 'yellow' | 'green' | 'cyan';

/** Text in a colour where a terminal shows it. */
export const paint = (style: Style, text: string): string =>
  process.stdout.isTTY && !environment['NO_COLOR'] ? styleText(style, text) : text;

export const say = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

/** Characters that move the cursor or change the text direction. */
const UNSEEN = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;
export const clean = (text: string): string => text.replaceAll(UNSEEN, ' ');

/** Returns JSON for a terminal. Also escapes invisible characters that JSON.stringify leaves unchanged. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(UNSEEN, (found) =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
export const sayJson = (value: unknown): void => say(jsonText(value, 2));

let displayZone = 'UTC';

/** Chooses the time zone of the times that this command prints. */
export const showTimesIn = (zone: string): void => {
  displayZone = zone;
};
export const zoneOfTimes = (): string => displayZone;

/** Returns a time as people read it: without milliseconds, in the zone of `showTimesIn`, with its offset unless that is UTC. */
export function shortTime(text: string): string {
  const at = new Date(text);
  if (displayZone === 'UTC' || Number.isNaN(at.getTime())) return utcTime(text);
  const { day, clock, offset } = localTime(at, displayZone);
  return `${day} ${clock}${offset}`;
}

/** Returns a time without milliseconds, in UTC. */
const utcTime = (text: string): string => text.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');

/** Returns a time for a sentence: as `shortTime`, and with its zone also if that is UTC. */
export const zonedTime = (text: string): string => {
  const time = shortTime(text);
  return /[+-]\d\d:\d\d$/.test(time) ? time : `${time} UTC`;
};

/** RFC 3339 in UTC, or a clock of UTC with or without its day. */
const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)|(?:(\d{4}-\d\d-\d\d) )?\b(\d\d:\d\d:\d\d) UTC/g;

/** Returns a sentence of the API with its times in the zone of `showTimesIn`. A clock without a day is of the UTC day of `now`. */
export const withTimes = (sentence: string, now = new Date()): string =>
  sentence.replaceAll(TIMES, (_, instant: string | undefined, day = now.toISOString().slice(0, 10), clock = '') =>
    zonedTime(instant ?? `${day}T${clock}Z`),
  );

/** Columns as wide as their widest cell; the last one runs free. */
export function table(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head ? [head, ...rows] : rows;
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => clean(row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? clean(cell) : clean(cell).padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return all.map((row, index) => (head && index === 0 ? paint('dim', line(row)) : line(row))).join('\n');
}

const STATE_STYLES: Readonly<Record<string, Style>> = {
  SENT: 'green',
  DELIVERED: 'green',
  WAITING: 'cyan',
  SENDING: 'cyan',
  IN_DOUBT: 'red',
  FAILED: 'red',
  EXPIRED: 'yellow',
  SUPPRESSED: 'yellow',
};
export const paintState = (state: string): string => paint(STATE_STYLES[state] ?? 'bold', state);

/** Server errors caused by wrong usage: exit code 2, as if the command itself had found the mistake. */
const WRONG_CALLS: ReadonlySet<string> = new Set(['wrong_usage', 'invalid_request', 'invalid_configuration']);

/** Says what went wrong and what to do; answers the exit code. */
export function reportFailure(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const problem = error instanceof CommandError ? error.problem : undefined;
  const code =
    problem?.code ?? (error instanceof UsageError ? 'wrong_usage' : isCarillonError(error) ? error.code : 'failed');
  if (asJson) {
    sayJson(problem ?? { code, detail: messageOf(error) });
  } else {
    process.stderr.write(`${paint('red', 'carillon:')} ${messageOf(error).split('\n').map(clean).join('\n')}\n`);
    const page = problem?.type ?? (isCarillonError(error) ? `docs/errors.md, ${error.code}` : null);
    if (page !== null) process.stderr.write(`${paint('dim', `see ${clean(page)}`)}\n`);
  }
  return WRONG_CALLS.has(code) ? 2 : 1;
}
