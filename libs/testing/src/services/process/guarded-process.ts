import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  /** Output and errors are appended to this file. */
  readonly log: string;
  readonly cwd?: string;
  /** Added to our own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whom to run as, where we are root and the program refuses to be. */
  readonly user?: { readonly uid: number; readonly gid: number };
};

export type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type GuardedProcess = {
  readonly pid: number;
  readonly running: boolean;
  /** Settles when it has ended, however it did. */
  readonly ended: Promise<Ending>;
  signal(signal: NodeJS.Signals): void;
};

/**
 * Shell script that kills the process group when we exit: we hold the other end of a pipe, the kernel closes it, `cat`
 * ends, and the group is killed. The program replaces the shell, so we know its pid.
 */
const GUARD = `exec 3<&0 </dev/null
(cat <&3 >/dev/null; kill -s KILL -- -$$) >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** Starts a program that does not outlive this process, not even a `kill -9` of it. It does not keep us from ending. */
export function startGuarded({ command, args, log, cwd, env, user }: Launch): GuardedProcess {
  const output = openSync(log, 'a');
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', command, ...args], {
    ...(cwd !== undefined && { cwd }),
    ...user,
    env: { ...process.env, ...env },
    stdio: ['pipe', output, output],
    // A group of its own, for the guard to kill.
    detached: true,
  });
  closeSync(output);
  const { stdin } = child;
  stdin?.on('error', () => undefined);
  child.unref();
  if (stdin instanceof Socket) stdin.unref();

  const ended = new Promise<Ending>((settle, fail) => {
    child.once('error', fail);
    child.once('exit', (code, signal) => {
      stdin?.destroy();
      settle({ code, signal });
    });
  });
  ended.catch(() => undefined);

  const isRunning = (): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    get running() {
      return isRunning();
    },
    get ended() {
      // Somebody waits for it now.
      if (isRunning()) child.ref();
      return ended;
    },
    signal(signal) {
      if (isRunning()) child.kill(signal);
    },
  };
}
