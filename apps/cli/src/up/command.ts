import type { Command } from 'commander';
import { environment } from '../config.ts';
import { say, sayJson } from '../output.ts';
import { serveUntilAsked } from '../process/lifetime.ts';
import type { ProcessFlags } from '../process/settings.ts';
import { startScreen, type ScreenFacts } from './screen.ts';

type UpFlags = ProcessFlags & { readonly demo?: boolean; readonly json?: boolean };

/** `carillon up`: every role in this process, until a signal. */
export function upCommand(program: Command): void {
  program
    .command('up')
    .description('run all roles in one process, with an embedded data file or on Kafka and MongoDB')
    .option('--config <file>', 'carillon.yaml with the addresses of log and stores (CARILLON_CONFIG)')
    .option('--data-dir <dir>', 'data folder (CARILLON_DATA_DIR, ./carillon-data)')
    .option('--host <address>', 'address to listen on (CARILLON_HOST, 127.0.0.1)')
    .option('--gateway-port <port>', 'event intake (CARILLON_GATEWAY_PORT, 7400)')
    .option('--control-port <port>', 'management API and portal (CARILLON_CONTROL_PORT, 7401)')
    .option('--log-level <level>', 'debug, info, warn or error (CARILLON_LOG_LEVEL, warn)')
    .option('--demo', 'fill an empty data folder with the demo workspace')
    .option('--json', 'print the addresses as JSON')
    .action(async (flags: UpFlags) => {
      await serveUntilAsked(
        flags.json ?? false,
        async (fatal, asked) => {
          // Loaded here only, as the roles below: every other command starts in a fraction of the time without them.
          const { findProcessContext } = await import('../process/settings.ts');
          const { startWithRetries } = await import('../process/retried-start.ts');
          const { createLogger } = await import('@carillon/runtime');
          return startWithRetries({
            role: 'carillon',
            places: ({ gatewayPort, controlPort }) => [
              { port: gatewayPort, strangers: true },
              { port: controlPort, strangers: false },
            ],
            find: () => findProcessContext(flags, environment),
            asked,
            warn: createLogger().warn,
            start: async ({ settings, env }, listens) => {
              const { startAll } = await import('./start-all.ts');
              return startAll(settings, env, { demo: flags.demo ?? false, demoDir: './carillon-demo', listens, fatal });
            },
          });
        },
        ({ facts }) => (flags.json ? sayJson(startFacts(facts)) : say(startScreen(facts))),
      );
    });
}

const startFacts = ({ control, gateway, dataDir, welcome, demo, recovered }: ScreenFacts) => ({
  control,
  gateway,
  data: dataDir,
  welcome,
  api_key: demo?.key ?? null,
  demo: demo?.folder ?? null,
  recovered: {
    resumed: recovered.resumed,
    in_doubt: recovered.inDoubt,
    write_ahead_log: recovered.foundWal && { bytes: recovered.foundWal.bytes, took_ms: recovered.foundWal.tookMs },
  },
});
