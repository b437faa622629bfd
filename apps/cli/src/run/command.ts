import { Argument, type Command } from 'commander';
import { environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import { paint, say, sayJson } from '../output.ts';
import { serveUntilAsked } from '../process/lifetime.ts';
import type { ListeningPlace } from '../process/not-started.ts';
import type { ProcessFlags, ProcessSettings } from '../process/settings.ts';
import { VERSION } from '../version.ts';
import { HEALTH_PORTS } from './health-ports.ts';
import { ROLES, type RoleName } from './role-names.ts';
import type { RunningRole } from './start-role.ts';

type RunFlags = ProcessFlags & { readonly json?: boolean };

function placesOf(
  role: RoleName,
  { gatewayPort, controlPort, healthPort }: ProcessSettings,
): readonly ListeningPlace[] {
  if (role === 'control') return [{ port: controlPort, strangers: false }];
  const health = { port: healthPort ?? HEALTH_PORTS[role], strangers: false };
  return role === 'gateway' ? [{ port: gatewayPort, strangers: true }, health] : [health];
}

const FOR_ONE_PROCESS =
  'the embedded backend is for one process: npx carillon up. A role of its own needs CARILLON_BROKERS, CARILLON_MONGODB_URL ' +
  'and CARILLON_SCHEMA_REGISTRY_URL, or --config';

/** `carillon run ROLE`: one role in this process, on a cluster, until a signal. */
export function runCommand(program: Command): void {
  program
    .command('run')
    .description('run one role on Kafka, MongoDB and a schema registry; start as many processes as you need')
    .addArgument(new Argument('<role>', 'what this process does').choices([...ROLES]))
    .option('--config <file>', 'carillon.yaml with the addresses of log and stores (CARILLON_CONFIG)')
    .option('--data-dir <dir>', 'folder with keys and owner token (CARILLON_DATA_DIR, ./carillon-data)')
    .option('--host <address>', 'address to listen on (CARILLON_HOST, 127.0.0.1)')
    .option('--gateway-port <port>', 'event intake, for gateway (CARILLON_GATEWAY_PORT, 7400)')
    .option('--control-port <port>', 'management API and portal, for control (CARILLON_CONTROL_PORT, 7401)')
    .option(
      '--health-port <port>',
      'health, for engine (7402), delivery (7403) and gateway (7404) (CARILLON_HEALTH_PORT)',
    )
    .option('--log-level <level>', 'debug, info, warn or error (CARILLON_LOG_LEVEL, warn)')
    .option('--json', 'print the address as JSON')
    .action(async (role: RoleName, flags: RunFlags) => {
      const { findProcessContext } = await import('../process/settings.ts');
      await serveUntilAsked(
        flags.json ?? false,
        async (fatal, asked) => {
          const { startWithRetries } = await import('../process/retried-start.ts');
          const { createLogger } = await import('@carillon/runtime');
          const { endsWhereAway, startRole } = await import('./start-role.ts');
          const started = startWithRetries({
            role,
            places: (settings) => placesOf(role, settings),
            find: () => findProcessContext(flags, environment),
            asked,
            warn: createLogger().warn,
            start: async ({ settings, env }, listens) => {
              if (!settings.cluster) throw new UsageError(FOR_ONE_PROCESS);
              return startRole(role, settings, env, fatal, listens);
            },
          });
          return started.catch((error: unknown) => {
            throw endsWhereAway(error);
          });
        },
        (running) => (flags.json ? sayJson(facts(running)) : say(screen(running))),
      );
    });
}

const facts = ({ role, address, health, welcome }: RunningRole) => ({ role, address, health, welcome });

function screen({ role, place, address, welcome }: RunningRole): string {
  const signIn = welcome === null ? '' : `        sign in once: ${address}/welcome#${welcome}`;
  return `  ${paint('bold', `Carillon ${VERSION}`)}   ${role}, ${place}\n  ${address}${signIn}`;
}
