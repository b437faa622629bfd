import { styleText } from 'node:util';
import { isCarillonError, messageOf } from '@carillon/kernel';
import { CommanderError } from 'commander';
import { CommandError, UsageError } from './failure.ts';
import { environment } from './config.ts';

export type Style = 'dim' | 'bold' | 'red' | 'yellow' | 'green' | 'cyan';

/** Text in a colour where a terminal shows it. */
export const paint = (style: Style, text: string): string =>
  process.stdout.isTTY && !environment['NO_COLOR'] ? styleText(style, text) : text;

export const say = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};
export const sayJson = (value: unknown): void => say(JSON.stringify(value, null, 2));

/** Control characters of foreign text would move the cursor of whoever reads it. */
export const clean = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');

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

/** Says what went wrong and what to do; answers the exit code. */
export function reportFailure(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const code = error instanceof UsageError ? 2 : isCarillonError(error) && error.code === 'wrong_usage' ? 2 : 1;
  const problem = error instanceof CommandError ? error.problem : undefined;
  if (asJson) {
    const body = problem ?? { error: isCarillonError(error) ? error.code : 'failed', detail: messageOf(error) };
    process.stdout.write(`${JSON.stringify(body, null, 2)}\n`);
  } else {
    process.stderr.write(`${paint('red', 'carillon:')} ${messageOf(error)}\n`);
  }
  return code;
}
