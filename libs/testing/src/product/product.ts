import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentWith, PROGRAM } from './program.ts';

export type ProductOptions = {
  readonly dataDir: string;
  /** Left out: the command as it stands in the checkout. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Left out: any free ones, which is what keeps tests apart from each other. */
  readonly ports?: { readonly gateway: number; readonly control: number };
  /** Further arguments of `carillon up`, such as `--demo`. */
  readonly args?: readonly string[];
  /** `--demo` writes its files into the working folder. */
  readonly cwd?: string;
  /** Command and arguments that become the product, such as those of a tracer. Left out: Node itself. */
  readonly under?: readonly string[];
};

export type ProductExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process that was started and may not answer yet. */
export type LaunchedProduct = {
  readonly pid: number;
  /** Resolves when it takes requests; rejects when it ends before, or takes too long. */
  readonly ready: Promise<Product>;
  readonly exited: Promise<ProductExit>;
  /** Returns the standard error output so far. */
  stderr(): string;
  /** Sends the signal; resolves when the process is gone. Nothing happens where it has ended. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<ProductExit>;
};

/** The real product, running as a process of its own. */
export type Product = Omit<LaunchedProduct, 'ready'> & {
  /** `http://127.0.0.1:…`; events go to `/events/…` of it. */
  readonly gatewayUrl: string;
  /** The management API and the portal. */
  readonly controlUrl: string;
  /** The owner's token for the management API. */
  readonly token: string;
};

type Screen = { readonly gateway: string; readonly control: string };

/** A bound against standing still: on a busy machine the product takes minutes. */
const READY_WITHIN = 300_000;

/**
 * Parses what the product prints at its start: one JSON text over several lines. Returns undefined while the text is
 * incomplete, and for a failure, which is JSON too.
 */
function readScreen(stdout: string): Screen | undefined {
  if (!stdout.trimEnd().endsWith('}')) return undefined;
  const printed = JSON.parse(stdout) as Partial<Screen>;
  return printed.gateway === undefined || printed.control === undefined ? undefined : (printed as Screen);
}

/** Starts the product without waiting for it: for those who want to end it while it starts. */
export function launchProduct(options: ProductOptions): LaunchedProduct {
  const { dataDir, program = PROGRAM, ports = { gateway: 0, control: 0 } } = options;
  const places = ['--gateway-port', String(ports.gateway), '--control-port', String(ports.control)];
  const [command, ...prefix] = [...(options.under ?? []), process.execPath];
  const child = spawn(
    command,
    [...prefix, program, 'up', '--data-dir', dataDir, ...places, '--json', ...(options.args ?? [])],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environmentWith(options.env),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    },
  );
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8');

  // It must not outlive the test runner.
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  const exited = new Promise<ProductExit>((settle) => {
    child.once('close', (code, signal) => {
      process.removeListener('exit', end);
      settle({ code, signal });
    });
  });
  const launched = {
    pid: child.pid ?? 0,
    exited,
    stderr: () => stderr,
    kill(signal: 'SIGKILL' | 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };

  const ready = new Promise<Product>((settle, fail) => {
    const late = setTimeout(() => {
      end();
      fail(new Error(`the product was not ready within ${READY_WITHIN} ms: ${stderr}`));
    }, READY_WITHIN);
    child.once('error', fail);
    child.once('close', (code, signal) => {
      clearTimeout(late);
      fail(new Error(`the product ended before it was ready (${signal ?? code}): ${stderr}${stdout}`));
    });
    let isReady = false;
    child.stdout.on('data', (text: string) => {
      // Later output, such as the reason of an end, is not parsed.
      if (isReady) return;
      stdout += text;
      const screen = readScreen(stdout);
      if (!screen) return;
      isReady = true;
      clearTimeout(late);
      const token = readFileSync(join(dataDir, 'owner-token'), 'utf8').trim();
      settle({ ...launched, gatewayUrl: screen.gateway, controlUrl: screen.control, token });
    });
  });
  // A test that kills the process during its start does not wait for it.
  ready.catch(() => undefined);
  return { ...launched, ready };
}

/** Starts the product over a data folder on loopback ports and waits until it takes requests. */
export const startProduct = (options: ProductOptions): Promise<Product> => launchProduct(options).ready;
