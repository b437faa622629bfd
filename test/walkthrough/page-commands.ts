import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedCommands } from './printed-commands.ts';

const textOf = (page: string): string => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

/** The words of a command that a page prints: this one, or the first that begins so. */
export function commandOf(page: string, beginning: string): readonly string[] {
  const all = printedCommands([textOf(page).replaceAll('`', '\n')]);
  const isThis = (words: readonly string[]): boolean => words.join(' ') === beginning;
  const found = all.find(isThis) ?? all.find((words) => words.join(' ').startsWith(beginning));
  if (!found) throw new Error(`docs/${page} prints no command ${beginning}`);
  return found;
}
