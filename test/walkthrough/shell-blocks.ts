import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Carillon } from './support.ts';

/** The blocks of a page in docs that are for a shell, as they stand. */
export const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, text = '']) => text,
  );

/** Runs a block of a page in the folder where Carillon was started; `settings` are the lines of the page that every block needs. */
export async function runBlock(carillon: Carillon, settings: string, block: string): Promise<string> {
  const known = settings.replace('http://127.0.0.1:7401', carillon.control);
  // With its standard input on a pipe of Node, bash takes itself for a remote shell and would read the machine's own settings.
  const words = ['--norc', '-euc', known.replace(/^curl .*\n/m, '') + block];
  const child = spawn('bash', words, { cwd: carillon.folder });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  }
  expect({ code: await new Promise((settle) => child.once('close', settle)), out }).toMatchObject({ code: 0 });
  return out;
}
