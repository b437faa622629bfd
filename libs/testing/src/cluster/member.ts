import { readFileSync } from 'node:fs';
import { environmentWith, PROGRAM } from '../product/program.ts';
import { ServiceProcess } from '../services/process/service-process.ts';
import type { ServicePart } from '../services/service.ts';

export type RoleName = 'gateway' | 'engine' | 'delivery' | 'control';

/** A process of a cluster: `carillon run ROLE`. After a kill it can be started again on the same port. */
export type Member = ServicePart & {
  readonly role: RoleName;
  /** `http://127.0.0.1:…`: what the role serves. */
  readonly address: string;
  /** Where it says what is not ready, and its metrics: a port of its own where the other is for strangers. */
  readonly health: string;
  /** Starts it and waits until it says that it is ready. One that ends before is started again, for two minutes. */
  start(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Returns the output so far, over all starts. */
  log(): string;
};

export type MemberOptions = {
  readonly role: RoleName;
  /** Names it in messages: `engine 2`. */
  readonly name: string;
  readonly port: number;
  /** The same, but for a gateway. */
  readonly healthPort: number;
  /** All the settings it has. */
  readonly env: Readonly<Record<string, string>>;
  /** File to which the output is appended. */
  readonly log: string;
  /** Program to run. Defaults to this checkout. */
  readonly program?: string;
};

const PORT_OPTIONS: Readonly<Record<RoleName, string>> = {
  gateway: '--gateway-port',
  engine: '--health-port',
  delivery: '--health-port',
  control: '--control-port',
};
/** Number of starts, as with a supervisor: a role that finds no broker reports it and ends. */
const ATTEMPTS = 100;

/** A member that is not started yet. */
export function createMember(options: MemberOptions): Member {
  const { role, name, port, healthPort, env, log, program = PROGRAM } = options;
  const address = `http://127.0.0.1:${port}`;
  const ports = [
    PORT_OPTIONS[role],
    String(port),
    ...(healthPort === port ? [] : ['--health-port', String(healthPort)]),
  ];
  const running = new ServiceProcess({
    name: `carillon ${name}`,
    launch: {
      command: process.execPath,
      args: [program, 'run', role, ...ports, '--json'],
      env: environmentWith(env),
      log,
    },
    isReady: async () => (await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok,
    attempts: ATTEMPTS,
  });
  return {
    role,
    name,
    address,
    health: `http://127.0.0.1:${healthPort}`,
    get pid() {
      return running.pid;
    },
    get running() {
      return running.running;
    },
    start: () => running.start(),
    stop: () => running.stop(),
    kill: (signal) => running.kill(signal),
    restart: () => running.restart(),
    log: () => readFileSync(log, 'utf8'),
  };
}
