import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { untilFound } from '@carillon/testing';
import { buildImage, type Engine, type Target } from '../../tools/images.ts';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, '../../deploy/compose');
const ROLES = ['gateway', 'control', 'engine', 'delivery'] as const satisfies readonly Target[];
/** Not the name that compose.yaml has: whoever keeps a deployment of that name keeps its volumes. */
const PROJECT = 'carillon-proof';
const STAND_IN = 'carillon-stand-in-kafka';
/** Compose of that version knows `!reset`, which compose.stand-ins.yaml uses. */
const LEAST_COMPOSE = [2, 24] as const;
/** Images of the servers may be pulled, and a busy disk makes Kafka slow. */
const UP_MS = 900_000;
const BACK_MS = 420_000;
const ASKED_EACH_MS = 3_000;

export const STORES = ['kafka-1', 'mongodb', 'registry'] as const;
/** What is there only where three brokers are. */
const MORE_BROKERS = ['kafka-2', 'kafka-3'] as const;
export type ServiceName =
  | (typeof ROLES)[number]
  | (typeof STORES)[number]
  | (typeof MORE_BROKERS)[number]
  | 'prometheus';

/** How Compose is called beside this engine: its own word, or a program of its own; null where there is none, or an older one. */
export async function findCompose(engine: Engine): Promise<readonly string[] | null> {
  for (const words of [[engine, 'compose'], ['docker-compose']]) {
    const [program = '', ...first] = words;
    const { stdout } = await run(program, [...first, 'version', '--short'], { timeout: 30_000 }).catch(() => ({
      stdout: '',
    }));
    const version = stdout.trim().replace(/^v/, '');
    const [major = 0, minor = 0] = version.split('.').map(Number);
    // Whoever built it from its sources has no number.
    if (version === 'dev' || major > LEAST_COMPOSE[0] || (major === LEAST_COMPOSE[0] && minor >= LEAST_COMPOSE[1])) {
      return words;
    }
  }
  return null;
}

type State = { readonly Pid: number; readonly Running: boolean; readonly Health?: { readonly Status: string } };

/** `deploy/compose` as a project of its own on this machine, with the ports that its files name. */
export type Composed = {
  /** Starts what is not started, and waits until each role says that it is ready, and whatever else is named. */
  readonly up: (...more: readonly ServiceName[]) => Promise<void>;
  /** Stops and removes the containers; the volumes stay, unless told. */
  readonly down: (what?: { readonly volumes: boolean }) => Promise<void>;
  /** Sends SIGKILL to the first process of the container, as a crash would end it, and waits until another serves in its place. */
  readonly kill: (service: ServiceName) => Promise<void>;
  /** Runs the command line in the container of `control`; answers what it printed. Rejects with what it complained of. */
  readonly carillon: (...words: readonly string[]) => Promise<string>;
  /** Asks the management API as the owner. */
  readonly ask: <T>(path: string) => Promise<T>;
  /** The owner's token. */
  readonly token: () => Promise<string>;
  readonly logs: (service: ServiceName) => Promise<string>;
  readonly leave: () => Promise<void>;
};

/**
 * Builds the images of the roles, and answers what starts them. Where images that stand in for those of the servers were made
 * (`deploy/images/make-stand-ins.sh`), they are used; elsewhere the published ones are pulled.
 */
export async function composed(
  engine: Engine,
  compose: readonly string[],
  socketFolder: string,
  { brokers = 1 }: { readonly brokers?: 1 | 3 } = {},
): Promise<Composed> {
  const background: ChildProcess[] = [];
  const start: Start = (program, ...args) => {
    background.push(spawn(program, args, { stdio: 'ignore' }));
  };
  const environment = await environmentOf(engine, socketFolder, start);
  for (const role of ROLES) await buildImage(engine, role, { say: () => undefined });
  const files = (await composeFiles(engine, brokers, socketFolder)).flatMap((file) => ['-f', file]);

  const call = async (words: readonly string[], timeout = 120_000): Promise<string> => {
    const [program = '', ...args] = words;
    return (
      await run(program, args, { cwd: FOLDER, env: environment, timeout, maxBuffer: 64 * 1024 * 1024 })
    ).stdout.trim();
  };
  const project = async (words: readonly string[], timeout?: number): Promise<string> =>
    call([...compose, '--project-name', PROJECT, ...files, ...words], timeout);
  const container = async (service: ServiceName): Promise<string> => project(['ps', '--all', '--quiet', service]);
  async function state(service: ServiceName): Promise<State> {
    return JSON.parse(
      await call([engine, 'inspect', '--format', '{{json .State}}', await container(service)]),
    ) as State;
  }

  // Timers of systemd ask for the health of podman's containers. Where there is no systemd, somebody else has to.
  const asks = engine === 'podman' && !existsSync('/run/systemd/system');
  async function askForHealth(): Promise<void> {
    if (!asks) return;
    const ids = (await project(['ps', '--quiet'])).split('\n').filter((id) => id !== '');
    await Promise.all(ids.map(async (id) => call(['podman', 'healthcheck', 'run', id], 60_000).catch(() => '')));
  }
  async function untilHealthy(service: ServiceName, not: number, within: number): Promise<void> {
    await untilFound(
      `${service} is healthy`,
      async () => {
        await askForHealth();
        const { Pid, Running, Health } = await state(service);
        if (Running && Pid !== not && Health?.Status === 'healthy') return true;
        await pause(ASKED_EACH_MS);
        return undefined;
      },
      within,
    );
  }

  let known: string | null = null;
  const token = async (): Promise<string> => {
    // The image has no shell and no `cat`.
    const read = "process.stdout.write(require('fs').readFileSync('/data/owner-token', 'utf8').trim())";
    known ??= await project(['exec', '-T', 'control', 'node', '-e', read]);
    return known;
  };
  const carillon = async (...words: readonly string[]): Promise<string> =>
    project(['exec', '-T', 'control', 'carillon', ...words]);

  // Without the profile, Compose leaves what only the profile starts.
  const down = async (...options: readonly string[]): Promise<string> =>
    project(['--profile', 'telemetry', 'down', ...options], 300_000);

  return {
    carillon,
    token,
    up: async (...more) => {
      const started = project(['up', '--detach', '--no-build', ...ROLES, ...more], UP_MS);
      let waiting = true;
      const asking = (async () => {
        while (waiting) {
          await askForHealth().catch(() => undefined);
          await Promise.race([started.catch(() => undefined), pause(ASKED_EACH_MS)]);
        }
      })();
      await started.finally(() => {
        waiting = false;
      });
      await asking;
      for (const service of [...ROLES, ...more]) await untilHealthy(service, 0, BACK_MS);
    },
    down: async ({ volumes } = { volumes: false }) => {
      known = null;
      await down(...(volumes ? ['--volumes'] : []));
    },
    kill: async (service) => {
      const { Pid } = await state(service);
      process.kill(Pid, 'SIGKILL');
      await untilHealthy(service, Pid, BACK_MS);
    },
    ask: async <T>(path: string) => {
      const headers = { authorization: `Bearer ${await token()}` };
      const answer = await fetch(`http://127.0.0.1:7401${path}`, { headers });
      if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    logs: async (service) => project(['logs', '--no-log-prefix', service]),
    leave: async () => {
      await down('--volumes');
      for (const child of background) {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
    },
  };
}

type Start = (program: string, ...args: readonly string[]) => void;

/** Returns the environment in which Compose runs. Starts the service that podman answers Compose with, unless one is named. */
async function environmentOf(engine: Engine, socketFolder: string, start: Start): Promise<NodeJS.ProcessEnv> {
  const environment = { ...process.env };
  if (engine === 'podman' && environment['DOCKER_HOST'] === undefined) {
    const socket = join(socketFolder, 'podman.sock');
    environment['DOCKER_HOST'] = `unix://${socket}`;
    start('podman', 'system', 'service', '--time', '0', environment['DOCKER_HOST']);
    await untilFound('the socket of podman', () => existsSync(socket) || undefined, 30_000);
  }
  return environment;
}

/** Returns the files of Compose. Uses images that stand in for those of the servers if they were made. */
async function composeFiles(engine: Engine, brokers: 1 | 3, folder: string): Promise<readonly string[]> {
  const standsIn = await run(engine, ['image', 'inspect', STAND_IN]).then(
    () => true,
    () => false,
  );
  return [
    'compose.yaml',
    ...(brokers === 3 ? ['compose.three-brokers.yaml'] : []),
    ...(standsIn ? ['compose.stand-ins.yaml'] : []),
    ...(standsIn && brokers === 3 ? [standInsOfMoreBrokers(folder)] : []),
  ];
}

/** A file of Compose beside the stand-ins, which names the brokers that one broker has not. */
function standInsOfMoreBrokers(folder: string): string {
  const file = join(folder, 'compose.stand-ins.three-brokers.yaml');
  const each = MORE_BROKERS.map(
    (name) => `  ${name}: { image: ${STAND_IN}, pull_policy: never, healthcheck: { start_interval: !reset null } }\n`,
  );
  writeFileSync(file, `services:\n${each.join('')}`);
  return file;
}
