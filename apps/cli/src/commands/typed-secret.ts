import { UsageError } from '../failure.ts';

/**
 * Reads a secret from a pipe, or typed without echo. Never from an argument, because arguments appear in process lists
 * and shell histories.
 */
export async function readSecret(name: string): Promise<string> {
  if (!process.stdin.isTTY) {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    const value = Buffer.concat(chunks)
      .toString('utf8')
      .replace(/\r?\n$/, '');
    if (value === '') throw new UsageError('standard input is empty: pipe the value in');
    return value;
  }
  process.stderr.write(`${name}: `);
  process.stdin.setRawMode(true);
  process.stdin.resume();
  let value = '';
  for await (const chunk of process.stdin) {
    for (const char of (chunk as Buffer).toString('utf8')) {
      if (char === '\u0003') throw new UsageError('nothing was stored');
      if (char === '\r' || char === '\n') {
        process.stdin.setRawMode(false);
        process.stdin.pause();
        process.stderr.write('\n');
        if (value === '') throw new UsageError('nothing was typed');
        return value;
      }
      value = char === '\u007f' ? value.slice(0, -1) : value + char;
    }
  }
  throw new UsageError('nothing was typed');
}
