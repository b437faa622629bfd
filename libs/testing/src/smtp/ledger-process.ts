import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type LedgerEntry, type LedgerOptions, type LedgerSend, readLedger, readSends } from './ledger.ts';

/** A line that the server prints. */
type Said = { readonly port?: number; readonly open?: readonly number[] };

export type LedgerSmtp = {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** What was accepted so far. */
  entries(): Promise<readonly LedgerEntry[]>;
  /** The clients' ports of the sends that are under way, as of some milliseconds ago. */
  underWay(): readonly number[];
  /** Every send that is over so far, accepted or not, as the server saw it. */
  sends(): Promise<readonly LedgerSend[]>;
  stop(): Promise<void>;
};

const READY_WITHIN = 60_000;

/** Starts the ledger server as a process of its own and waits until it listens. */
export async function startLedgerSmtp(options: Omit<LedgerOptions, 'onOpen'>): Promise<LedgerSmtp> {
  const { file, ...rest } = options;
  const flags = Object.entries(rest).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const entry = fileURLToPath(new URL('./ledger-server.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, '--file', file, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'exit');
  let underWay: readonly number[] = [];

  const port = await new Promise<number>((settle, fail) => {
    const timer = setTimeout(() => fail(new Error(`the ledger server did not start: ${errors}`)), READY_WITHIN);
    child.once('exit', () => fail(new Error(`the ledger server ended: ${errors}`)));
    createInterface(child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      underWay = said.open ?? underWay;
      if (said.port === undefined) return;
      clearTimeout(timer);
      settle(said.port);
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
    underWay: () => underWay,
    sends: () => readSends(file),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
