import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type LedgerEntry, type LedgerOptions, type LedgerSend, readLedger, readSends } from './ledger.ts';

export type LedgerSmtp = {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** What was accepted so far. */
  entries(): Promise<readonly LedgerEntry[]>;
  /** Every send that is over so far, accepted or not, as the server saw it. */
  sends(): Promise<readonly LedgerSend[]>;
  stop(): Promise<void>;
};

const READY_WITHIN = 60_000;

/** Starts the ledger server as a process of its own and waits until it listens. */
export async function startLedgerSmtp(options: LedgerOptions): Promise<LedgerSmtp> {
  const { file, ...rest } = options;
  const flags = Object.entries(rest).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const entry = fileURLToPath(new URL('./ledger-server.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, '--file', file, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'exit');

  const port = await new Promise<number>((settle, fail) => {
    const timer = setTimeout(() => fail(new Error(`the ledger server did not start: ${errors}`)), READY_WITHIN);
    child.once('exit', () => fail(new Error(`the ledger server ended: ${errors}`)));
    child.stdout.once('data', (line: Buffer) => {
      clearTimeout(timer);
      settle((JSON.parse(line.toString()) as { port: number }).port);
    });
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });

  return {
    host: '127.0.0.1',
    port,
    pid: child.pid ?? 0,
    entries: () => readLedger(file),
    sends: () => readSends(file),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
