import type { CarillonError, Duration } from '@carillon/kernel';
import { reportFailure } from '../output.ts';

/** What is away holds up each part that closes for a while; all of it together is given so long (docs/cluster.md). */
const ENDS_WITHIN: Duration = 14_500;

/**
 * The life of a process that serves: starts, tells, and ends in order at a signal (code 0), or at once where going on
 * would be wrong (code 1). What has not closed in time ends with the process: everything is safe to be killed.
 */
export async function serveUntilAsked<Running extends { close(): Promise<void> }>(
  asJson: boolean,
  start: (fatal: (error: CarillonError) => void, asked: Promise<void>) => Promise<Running>,
  tell: (running: Running) => void,
): Promise<void> {
  // Before anything is open: whoever reads the screen may ask for the end in the same moment.
  const asked = signalled();
  try {
    const running = await start((error) => end(reportFailure(error, asJson)), asked);
    tell(running);
    await asked;
    setTimeout(() => end(0), ENDS_WITHIN).unref();
    await running.close();
    end(0);
  } catch (error) {
    // Everything is closed. Exit at once, because a pending timer would delay the next user of port and folder.
    end(reportFailure(error, asJson));
  }
}

/** Ends the process when what was printed has left it. */
const end = (code: number): void => void process.stdout.write('', () => process.exit(code));

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
