import { readFileSync } from 'node:fs';
import { UsageError } from '../failure.ts';

/** A file's text, or standard input for `-`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch {
    throw new UsageError(`cannot read ${file}`);
  }
}
