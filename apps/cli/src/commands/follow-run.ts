import { setTimeout as pause } from 'node:timers/promises';
import type { RunBody } from '@carillon/contracts';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { runProgressText, runText } from './replay-text.ts';

const POLL_INTERVAL_MS = 500;

/**
 * Shows the progress of a run on a terminal and resolves to the run when it has ended. If the command is interrupted,
 * the run continues, and the promise resolves to its current state.
 */
export async function waitForRun(client: Client, started: RunBody, { json }: CommonOptions): Promise<RunBody> {
  const draws = process.stdout.isTTY && !json;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  const path = `/v1/workspaces/${seg(started.workspace)}/runs/${seg(started.id)}`;
  let run = started;
  while (isUnderWay(run) && !interrupted.signal.aborted) {
    if (draws) process.stdout.write(`\r\u001B[K${runProgressText(run)}`);
    await pause(POLL_INTERVAL_MS, undefined, { signal: interrupted.signal }).catch(() => undefined);
    run = await client.get<RunBody>(path);
  }
  process.removeListener('SIGINT', interrupt);
  if (draws) process.stdout.write('\r\u001B[K');
  return run;
}

/**
 * Waits for a run and prints its result. The exit code is 1 if the run failed or was cancelled, or if a verification found something.
 */
export async function followRun(client: Client, started: RunBody, options: CommonOptions): Promise<RunBody> {
  const run = await waitForRun(client, started, options);
  if (options.json) sayJson(run);
  else say(runnable(runText(run), options));
  if (isUnderWay(run)) say(runnable(`it goes on: npx carillon replay show ${run.id} --follow`, options));
  else if (run.state !== 'done' || findingsOf(run) > 0) process.exitCode = 1;
  return run;
}

/** Returns the number of outputs that a verification found wrong. */
export const findingsOf = ({ verified }: RunBody): number =>
  verified === null ? 0 : verified.missing + verified.no_cause + verified.different;

export const isUnderWay = ({ ended_at: endedAt }: RunBody): boolean => endedAt === null;
