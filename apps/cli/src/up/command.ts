import type { Command } from 'commander';
import { say, sayJson } from '../output.ts';
import { readUpConfig, type UpFlags } from './config.ts';
import { startScreen } from './screen.ts';
import { startAll } from './start-all.ts';
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
      const running = await startAll(config, environment);
      const { facts } = running;
      if (flags.json) {
        const { control, gateway, dataDir, welcome, demo, recovered } = facts;
        sayJson({
          control,
          gateway,
          data: dataDir,
          welcome,
          api_key: demo?.key ?? null,
          demo: demo?.folder ?? null,
          recovered: { resumed: recovered.resumed, in_doubt: recovered.inDoubt },
        });
      } else say(startScreen(facts));
      await signalled();
      await running.close();
      process.exit(0);
    });
}

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
