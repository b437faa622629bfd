import type { CarillonError, Duration } from '@carillon/kernel';
import { reportFailure } from '../output.ts';

/**
 * Maximum time for all parts of a process to close together, because each part waits for unavailable dependencies
 * (docs/cluster.md).
 */
const ENDS_WITHIN: Duration = 14_500;

/**
 * Runs a serving process: starts it, prints where it serves, and closes it in order at a signal (exit code 0), or at
 * once after a fatal failure (exit code 1). Parts that do not close in time are killed with the process, which is
 * always safe.
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
