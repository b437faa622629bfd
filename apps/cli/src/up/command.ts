import type { Command } from 'commander';
import { reportFailure, say, sayJson } from '../output.ts';
import { readUpConfig, type UpFlags } from './config.ts';
import { startScreen, type ScreenFacts } from './screen.ts';
import { environment } from '../config.ts';

/** `carillon up`: every role in this process, until a signal. */
export function upCommand(program: Command): void {
  program
    .command('up')
    .description('run every role in one process on the embedded backend')
    .option('--data-dir <dir>', 'data folder (CARILLON_DATA_DIR, ./carillon-data)')
    .option('--host <address>', 'address to listen on (CARILLON_HOST, 127.0.0.1)')
    .option('--gateway-port <port>', 'event intake (CARILLON_GATEWAY_PORT, 7400)')
    .option('--control-port <port>', 'management API and portal (CARILLON_CONTROL_PORT, 7401)')
    .option('--log-level <level>', 'debug, info, warn or error (CARILLON_LOG_LEVEL, warn)')
    .option('--demo', 'fill an empty data folder with the demo workspace')
    .option('--json', 'print the addresses as JSON')
    .action(async (flags: UpFlags & { readonly json?: boolean }) => {
      const config = readUpConfig(flags, environment);
      // Before anything is open: whoever reads the screen may ask for the end in the same moment.
      const asked = signalled();
      try {
        // Loaded here only: every other command starts in a fraction of the time without the roles.
        const { startAll } = await import('./start-all.ts');
        const running = await startAll(config, environment);
        if (flags.json) sayJson(startFacts(running.facts));
        else say(startScreen(running.facts));
        await asked;
        await running.close();
        end(0);
      } catch (error) {
        // What was opened is closed. A timer that somebody still waits for must not keep the port's or folder's taker waiting.
        end(reportFailure(error, flags.json ?? false));
      }
    });
}

/** Ends the process when what was printed has left it. */
const end = (code: number): void => void process.stdout.write('', () => process.exit(code));

const startFacts = ({ control, gateway, dataDir, welcome, demo, recovered }: ScreenFacts) => ({
  control,
  gateway,
  data: dataDir,
  welcome,
  api_key: demo?.key ?? null,
  demo: demo?.folder ?? null,
  recovered: { resumed: recovered.resumed, in_doubt: recovered.inDoubt },
});

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
