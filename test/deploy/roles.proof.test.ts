import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROLES, type RoleName } from '@carillon/cli';
import {
  cli,
  readCompose,
  readComposeServices,
  startOtlpReceiver,
  untilFound,
  type ComposeRole,
  type OtlpReceiver,
} from '@carillon/testing';
import { freePorts, startKafka, startMongoDb, startRegistry } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeBundle } from '../../tools/bundle.ts';
import { describeWith } from '../support/requirements.ts';

const READY_WITHIN = 120_000;
/** The product gives itself 14.5 s (docs/cluster.md); the rest is for a machine that is busy. */
const ENDS_WITHIN = 60_000;

/** What a broker in deploy/compose is told, but for where it is: that is another place here. */
function brokerProperties(...files: readonly string[]): Record<string, string> {
  const elsewhere = /NODE_ID|LISTENER|VOTERS|LOG_DIRS|PROCESS_ROLES|HEAP_OPTS/;
  const { environment = {} } = readCompose(...files).services['kafka-1'] ?? {};
  const told = Object.entries(environment).filter(([name]) => name.startsWith('KAFKA_') && !elsewhere.test(name));
  return Object.fromEntries(told.map(([name, value]) => [name.slice(6).toLowerCase().replaceAll('_', '.'), value]));
}

let place: string;
let bundle: string;
let otlp: OtlpReceiver;
const opened: (() => Promise<void>)[] = [];

type Cluster = { readonly brokers: readonly string[]; readonly mongodb: string; readonly registry: string };

/** Starts roles with the commands and environments of deploy/compose, on this machine in place of its network. */
async function startRoles(cluster: Cluster, roles: Readonly<Record<string, ComposeRole>>, dataDir: string) {
  const names = Object.keys(roles) as RoleName[];
  const ports = new Map((await freePorts(ROLES.length)).map((port, at) => [ROLES[at] as RoleName, String(port)]));
  const here: Readonly<Record<string, string | undefined>> = {
    CARILLON_BROKERS: cluster.brokers.join(','),
    CARILLON_MONGODB_URL: cluster.mongodb,
    CARILLON_SCHEMA_REGISTRY_URL: cluster.registry,
    CARILLON_DATA_DIR: dataDir,
    CARILLON_HOST: '127.0.0.1',
    CARILLON_EVENTS_URL: `http://127.0.0.1:${ports.get('gateway')}/events`,
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint,
  };
  const inBundle = (text: string): string => text.replace(/^\/app/, bundle);
  const started = names.map((name) => {
    const { command, environment } = roles[name] as ComposeRole;
    const moved = Object.entries(environment).map(([variable, value]): [string, string] => [
      variable,
      here[variable] ?? value,
    ]);
    const port = ports.get(name);
    const listens = {
      CARILLON_GATEWAY_PORT: ports.get('gateway'),
      CARILLON_CONTROL_PORT: port,
      CARILLON_HEALTH_PORT: name === 'gateway' ? '0' : port,
    };
    const child = spawn(process.execPath, [join(bundle, 'carillon.js'), ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: place,
      env: { PATH: process.env['PATH'], ...Object.fromEntries(moved), ...listens },
    });
    opened.push(() => ended(child, 'SIGKILL').then(() => undefined));
    return { name, child, said: collect(child) };
  });
  for (const { name, child, said } of started) {
    const [, ...check] = (roles[name] as ComposeRole).healthcheck;
    const asked = check.map((part) => inBundle(part).replace(/:\d+\/readyz$/, `:${ports.get(name)}/readyz`));
    await untilFound(
      `health of ${name}: ${said()}`,
      async () => {
        if (child.exitCode !== null) throw new Error(`${name} ended: ${said()}`);
        return (await exitCode(process.execPath, asked)) === 0 ? true : undefined;
      },
      READY_WITHIN,
    );
  }
  return started;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (more: string) => (text += more));
  return () => text;
}

const exitCode = (program: string, args: readonly string[]): Promise<number> =>
  new Promise((settle) => execFile(program, args, (error) => settle(typeof error?.code === 'number' ? error.code : 0)));

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const over = once(child, 'exit');
  if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await over;
  return child.exitCode;
}

describeWith(['kafka', 'mongodb', 'registry'], 'The roles, started as deploy/compose starts them', () => {
  let mongodb: string;
  let registry: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'carillon-roles-'));
    bundle = join(place, 'app');
    await writeBundle(bundle);
    otlp = await startOtlpReceiver();
    const services = await Promise.all([startMongoDb(), startRegistry()]);
    opened.push(() => otlp.close(), ...services.map((one) => () => one.stop()));
    [{ url: mongodb }, { url: registry }] = services;
  });
  afterAll(async () => {
    for (const end of opened.toReversed()) await end();
    await rm(place, { recursive: true, force: true });
  });

  it(
    'are healthy on one broker, take an event in, put its message out, and end in time',
    { timeout: 300_000 },
    async () => {
      const kafka = await startKafka({ properties: brokerProperties('compose.yaml') });
      opened.push(() => kafka.stop());
      const dataDir = join(place, 'one');
      await mkdir(dataDir);
      const roles = await startRoles({ brokers: kafka.brokers, mongodb, registry }, readComposeServices(), dataDir);

      const run = (args: readonly string[], input?: string, env: Readonly<Record<string, string>> = {}) =>
        cli(args, { program: join(bundle, 'carillon.js'), dataDir, env, ...(input !== undefined && { input }) });
      const made = await run(['api-key', 'create', 'backend', '--workspace', 'shop', '--json']);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      const { key } = JSON.parse(made.stdout) as { key: string };
      expect(await run(['apply', '-f', join(bundle, 'demo')])).toMatchObject({ code: 0, stderr: '' });
      const event = {
        order_id: 'C-1',
        status: 'paid',
        total: 120,
        customer: { name: 'Ada', email: 'ada@example.com' },
      };
      const taken = await run(['send', 'shop/orders', '--file', '-', '--json'], JSON.stringify(event), {
        CARILLON_API_KEY: key,
      });
      expect(taken).toMatchObject({ code: 0, stderr: '' });
      const sent = await untilFound('a delivery that is sent', async () => {
        const { items } = JSON.parse((await run(['deliveries', '--json'])).stdout) as { items: { state: string }[] };
        return items.find(({ state }) => state === 'SENT');
      });
      expect(sent).toMatchObject({
        unique_id: expect.stringContaining('ada@example.com') as string,
        notification: 'order-paid',
      });
      for (const role of ['gateway', 'engine', 'delivery']) {
        await otlp.waitFor((span) => span.resource['service.name'] === `carillon-${role}`);
      }

      const asked = Date.now();
      const codes = await Promise.all(roles.map(({ child }) => ended(child, 'SIGTERM')));
      expect(codes).toEqual(roles.map(() => 0));
      expect(Date.now() - asked).toBeLessThan(ENDS_WITHIN);
      expect(roles.map(({ said }) => said())).toEqual(roles.map(() => ''));
    },
  );

  it('make three copies of everything on three brokers, as control shows', { timeout: 300_000 }, async () => {
    const files = ['compose.yaml', 'compose.three-brokers.yaml'];
    const kafka = await startKafka({ nodes: 3, properties: brokerProperties(...files) });
    opened.push(() => kafka.stop());
    const { control } = readComposeServices(...files);
    const dataDir = join(place, 'three');
    await mkdir(dataDir);
    const environment = { ...control?.environment, CARILLON_MONGODB_DATABASE: 'three' };
    const alone = { control: { ...(control as ComposeRole), environment } };
    await startRoles({ brokers: kafka.brokers, mongodb, registry }, alone, dataDir);
    // Healthy is a little before it has said where it is to whoever stands at the same folder.
    const stdout = await untilFound('the report of the doctor', async () => {
      const report = await cli(['doctor'], { program: join(bundle, 'carillon.js'), dataDir });
      return report.stdout === '' ? undefined : report.stdout;
    });
    expect(stdout).toMatch(/ok {4}Kafka topics: as they have to be/);
    expect(stdout).not.toContain('single_broker');
  });
});
