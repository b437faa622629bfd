/** `npm run services`: see HELP below. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { prepareService, withLock } from '@carillon/testing/services';
import {
  cacheFolder,
  isFetched,
  isServiceName,
  lackingTools,
  SERVICE_NAMES,
  titleOf,
  TOOLS,
  type ServiceName,
} from '@carillon/testing/services/needs';
import { findRunning, isAlive, memoryOf, stateFile, stateFolder, type RunningService } from './services-state.ts';

const HELP = `npm run services -- start|stop|status|env|fetch [--nodes 3] [kafka|kafka39|mongodb|postgres|registry|debezium …]

Real servers on the loopback interface, without Docker, from Maven Central, Debian and the Go module proxy.

  fetch    downloads what is not in the cache yet (all of them unless named)
  start    fetches and starts them in the background (kafka, mongodb and registry unless named); ready when it returns
  stop     stops those that run (all unless named); their data is removed
  status   what is fetched, what runs and where, what is lacking
  env      settings of Carillon for those that run: eval "$(npm run -s services -- env)" && npm start

  --nodes 3   Kafka with three nodes

  kafka     Apache Kafka 4.3.1                   about  45 MB in the cache, 150 MB of memory per node
  kafka39   Apache Kafka 3.9.2                   about  60 MB, 140 MB of memory
  mongodb   FerretDB 2.7.0 on PostgreSQL 18      about 200 MB, 70 MB of memory
  postgres  PostgreSQL 15, a database to read    about  95 MB, 30 MB of memory
  registry  Apicurio Registry 2.6.13             about 145 MB, 160 MB of memory
  debezium  Kafka Connect 4.3.1 with Debezium 3.6.1 and a Kafka of its own
                                                 about  85 MB, 350 MB of memory

Tests do not need "start": each starts what it needs by itself once it is fetched.
The cache is ~/.cache/carillon (root: /var/cache/carillon), or the folder that CARILLON_CACHE names. It may be deleted.
Where MONGODB_URL is set, tests use that server.`;

const STARTED_BY_DEFAULT: readonly ServiceName[] = ['kafka', 'mongodb', 'registry'];
const START_WITHIN = 120_000;
const STOP_WITHIN = 60_000;

/** What to set so that other programs find them. */
const VARIABLES: Readonly<Record<ServiceName, string>> = {
  kafka: 'KAFKA_BROKERS',
  kafka39: 'KAFKA39_BROKERS',
  mongodb: 'MONGODB_URL',
  postgres: 'POSTGRES_URL',
  registry: 'SCHEMA_REGISTRY_URL',
  debezium: 'KAFKA_CONNECT_URL',
};

/** Where `carillon up` and `carillon run` look for them. */
const SETTINGS: Readonly<Partial<Record<ServiceName, string>>> = {
  kafka: 'CARILLON_BROKERS',
  mongodb: 'CARILLON_MONGODB_URL',
  registry: 'CARILLON_SCHEMA_REGISTRY_URL',
};

const say = (line: string): void => console.log(line);
const secondsSince = (began: number): string => `${((Date.now() - began) / 1000).toFixed(1)} s`;

/** Says what these services need of the machine and where it comes from. */
function reportLacking(names: readonly ServiceName[]): boolean {
  const tools = [...new Set(names.flatMap(lackingTools))];
  if (tools.length === 0) return false;
  for (const name of names) {
    const lacking = lackingTools(name).map((tool) => TOOLS[tool].what);
    if (lacking.length > 0) say(`${name} lacks ${lacking.join(', ')}`);
  }
  const packages = [...new Set(tools.map((tool) => TOOLS[tool].debianPackage))];
  say(`On Debian, as root: apt-get install --no-install-recommends ${packages.join(' ')}`);
  say('or: npm test -- --install');
  return true;
}

async function fetchAll(names: readonly ServiceName[]): Promise<number> {
  const able = names.filter((name) => lackingTools(name).length === 0);
  let failed = reportLacking(names);
  for (const name of able) {
    try {
      const began = Date.now();
      const wasThere = isFetched(name);
      await prepareService(name, say);
      say(`${name}: ${titleOf(name)} is in the cache${wasThere ? '' : ` (${secondsSince(began)})`}`);
    } catch (error) {
      failed = true;
      say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed ? 1 : 0;
}

/** Starts the process that holds a service, and waits until it says that it runs. */
async function startHolder(name: ServiceName, nodes: string): Promise<RunningService> {
  const log = join(stateFolder(), `${name}.log`);
  rmSync(log, { force: true });
  rmSync(stateFile(name), { force: true });
  const output = openSync(log, 'a');
  const holder = join(import.meta.dirname, 'services-holder.ts');
  const child = spawn(process.execPath, [holder, name, stateFile(name), nodes], {
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  for (const deadline = Date.now() + START_WITHIN; Date.now() < deadline; await pause(50)) {
    const running = findRunning(name);
    if (running) return running;
    if (child.exitCode !== null || child.signalCode !== null) break;
  }
  child.kill('SIGTERM');
  throw new Error(
    `it did not start. Its log ends with:\n${readFileSync(log, 'utf8').split('\n').slice(-15).join('\n')}`,
  );
}

async function start(names: readonly ServiceName[], nodes: string): Promise<number> {
  if ((await fetchAll(names.filter((name) => !isFetched(name)))) !== 0 || reportLacking(names)) return 1;
  mkdirSync(stateFolder(), { recursive: true });
  const variables: string[] = [];
  const outcomes = await Promise.all(
    names.map((name) =>
      withLock(join(stateFolder(), `${name}.lock`), say, async () => {
        const began = Date.now();
        const already = findRunning(name);
        try {
          const { address } = already ?? (await startHolder(name, nodes));
          say(`${name}: ${already ? 'runs already' : `started in ${secondsSince(began)}`}, ${address}`);
          variables.push(`export ${VARIABLES[name]}=${address}`);
          return true;
        } catch (error) {
          say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
          return false;
        }
      }),
    ),
  );
  if (variables.length > 0) say(`\n${variables.toSorted().join('\n')}`);
  return outcomes.every(Boolean) ? 0 : 1;
}

async function stop(names: readonly ServiceName[]): Promise<number> {
  const outcomes = await Promise.all(
    names.map(async (name) => {
      const running = findRunning(name);
      if (!running) return true;
      const began = Date.now();
      process.kill(running.pid, 'SIGTERM');
      while (isAlive(running.pid) && Date.now() < began + STOP_WITHIN) await pause(50);
      const isGone = !isAlive(running.pid);
      say(`${name}: ${isGone ? `stopped in ${secondsSince(began)}` : `process ${running.pid} does not end`}`);
      return isGone;
    }),
  );
  return outcomes.every(Boolean) ? 0 : 1;
}

function describe(name: ServiceName): string {
  const running = findRunning(name);
  if (running) {
    const dead = running.pids.filter((pid) => !isAlive(pid));
    if (dead.length > 0) return `a process of it has ended (${dead.join(', ')}); see ${running.dataDir}`;
    const memory = memoryOf(running.pids);
    return `runs at ${running.address}${memory === undefined ? '' : `, ${memory} MB`}, data and logs in ${running.dataDir}`;
  }
  return isFetched(name) ? 'fetched, does not run' : 'not fetched';
}

function status(names: readonly ServiceName[]): number {
  say(`cache: ${cacheFolder()}`);
  for (const name of names) say(`${name.padEnd(8)}  ${describe(name)}`);
  reportLacking(names);
  return 0;
}

/** Lines for a shell; one broker alone has to be accepted by name. */
function env(): number {
  const lines: string[] = [];
  for (const [name, variable] of Object.entries(SETTINGS)) {
    const address = isServiceName(name) ? findRunning(name)?.address : undefined;
    if (address === undefined) continue;
    lines.push(`export ${variable}=${address}`);
    if (name === 'kafka' && !address.includes(',')) lines.push('export CARILLON_SINGLE_BROKER=true');
  }
  if (lines.length === 0) console.error('Nothing runs: npm run services -- start');
  else say(lines.join('\n'));
  return lines.length === 0 ? 1 : 0;
}

function refuse(message: string): number {
  console.error(`${message}\n\n${HELP}`);
  return 2;
}

async function main(args: readonly string[]): Promise<number> {
  const options = { help: { type: 'boolean', short: 'h' }, nodes: { type: 'string', default: '1' } } as const;
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  const [command, ...named] = positionals;
  if (values.help === true || command === undefined) {
    console.log(HELP);
    return values.help === true ? 0 : 2;
  }
  const unknown = named.find((name) => !isServiceName(name));
  if (unknown !== undefined) return refuse(`There is no service ${unknown}.`);
  if (values.nodes !== '1' && values.nodes !== '3') return refuse('--nodes is 1 or 3.');
  const names = named.filter(isServiceName);
  const orAll = names.length > 0 ? names : SERVICE_NAMES;
  switch (command) {
    case 'fetch':
      return fetchAll(orAll);
    case 'start':
      return start(names.length > 0 ? names : STARTED_BY_DEFAULT, values.nodes);
    case 'stop':
      return stop(orAll);
    case 'status':
      return status(orAll);
    case 'env':
      return env();
    default:
      return refuse(`There is no command ${command}.`);
  }
}

process.exitCode = await main(process.argv.slice(2));
