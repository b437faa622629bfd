import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readProcessContext, readSettings, ROLES } from '@carillon/cli';
import { COMPOSE_FOLDER, readCompose, readComposeServices, type ComposeService } from '@carillon/testing';
import * as dclint from 'dclint';
import { describe, expect, it } from 'vitest';

const ONE = ['compose.yaml'];
const THREE = ['compose.yaml', 'compose.three-brokers.yaml'];
const { services } = readCompose(...ONE);
const all = Object.entries(services);
const root = resolve(COMPOSE_FOLDER, '../..');

type Linted = {
  readonly filePath: string;
  readonly messages: readonly { readonly line: number; readonly message: string }[];
};
type Linter = { lintFiles(files: readonly string[], deep: boolean): readonly Linted[] };
type Rules = Readonly<Record<string, 0>>;
/** Its own types do not reach us: they are written for bundlers. */
const loaded: unknown = dclint;
const { DCLinter } = loaded as {
  DCLinter: new (config: { rules: Rules; quiet: boolean; debug: boolean; exclude: string[] }) => Linter;
};

/** What is a matter of taste to the linter, and ours is another: services stand in the order in which one reads about them. */
const TASTE = [
  'no-build-and-image',
  'no-quotes-in-volumes',
  'require-quotes-in-ports',
  'service-keys-order',
  'services-alphabetical-order',
  'top-level-properties-order',
];

describe('The files of deploy/compose', () => {
  it('are what the Compose specification describes, and what its linter likes', () => {
    const rules: Rules = Object.fromEntries(TASTE.map((rule) => [rule, 0]));
    const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
    const files = THREE.map((file) => join(COMPOSE_FOLDER, file));
    const said = linter.lintFiles(files, false);
    expect(said).toHaveLength(2);
    expect(
      said.flatMap(({ filePath, messages }) => messages.map((one) => `${filePath}:${one.line} ${one.message}`)),
    ).toEqual([]);
  });

  it('mount existing files and declared volumes only', () => {
    const { volumes } = readCompose(...THREE);
    const mounted = Object.values(readCompose(...THREE).services).flatMap((one) => one.volumes ?? []);
    expect(mounted.length).toBeGreaterThan(0);
    for (const mount of mounted) {
      const [source = '', , mode] = mount.split(':');
      if (!source.startsWith('.')) expect(Object.keys(volumes), mount).toContain(source);
      else {
        expect(existsSync(join(COMPOSE_FOLDER, source)), mount).toBe(true);
        expect(mode, mount).toBe('ro');
      }
    }
  });

  it('hold no secret', () => {
    const values = all.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment).map((pair) => [name, ...pair]),
    );
    expect(values.length).toBeGreaterThan(0);
    for (const [service = '', variable = '', value = ''] of values) {
      // It says where one stands.
      if (variable.endsWith('_FILE')) continue;
      expect(variable, service).not.toMatch(/PASSWORD|SECRET|TOKEN|PEPPER|_KEY$/);
      expect(value, service).not.toMatch(/\/\/[^/]*:[^/]*@/);
    }
  });

  it('mount the files named by _FILE variables as secrets, and each of them exists', () => {
    const { secrets, services: of } = readCompose(...ONE);
    for (const [name, { file }] of Object.entries(secrets)) {
      expect(existsSync(join(COMPOSE_FOLDER, file)), name).toBe(true);
    }
    for (const role of ROLES) {
      const { environment = {}, ...service } = of[role] as ComposeService;
      const named = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'));
      expect(named.map(([, path]) => path)).toEqual(Object.keys(secrets).map((name) => `/run/secrets/${name}`));
      expect(service['secrets']).toEqual(Object.keys(secrets));
    }
  });

  it.each(all)('pin the image of %s', (_name, { image }) => {
    expect(image).toMatch(/:v?\d+\.\d+\.\d+[\w.-]*$/);
  });

  it.each(all)('ask %s for its health, start it again, and open its ports to this machine alone', (_name, service) => {
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
    expect(service['restart']).toBe('unless-stopped');
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it.each(all)('start %s when what it needs is healthy', (_name, { depends_on = {} }) => {
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      expect(Object.keys(services)).toContain(needed);
      expect(condition).toBe('service_healthy');
    }
  });
});

describe('The roles in deploy/compose', () => {
  it('are all there are', () => {
    expect(Object.keys(readComposeServices()).toSorted()).toEqual([...ROLES].toSorted());
    expect(Object.keys(readComposeServices(...THREE)).toSorted()).toEqual([...ROLES].toSorted());
  });

  const seconds = (text: unknown): number => Number(/^(\d+)s$/.exec(String(text))?.[1]);
  it.each(ROLES)('%s may write nothing but keys and temporary files, and has 15 s to end', (role) => {
    const service: ComposeService | undefined = services[role];
    expect(service).toMatchObject({
      user: '1000:1000',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      volumes: role === 'control' ? ['keys:/data', 'control-tmp:/tmp'] : ['keys:/data'],
      // Scratch files of comparisons need a disk.
      tmpfs: role === 'control' ? [] : ['/tmp:size=64m'],
    });
    expect(seconds(service?.['stop_grace_period'])).toBeGreaterThanOrEqual(15);
  });

  it.each(ROLES)('%s is built from this checkout and never fetched by that name', (role) => {
    const { build, ...service } = services[role] as ComposeService;
    expect(service['pull_policy']).toBe('build');
    expect(resolve(COMPOSE_FOLDER, build?.context ?? '')).toBe(root);
    expect(existsSync(join(root, build?.dockerfile ?? ''))).toBe(true);
    expect(build?.target).toBe(role);
  });

  it.each(ROLES)('%s is the command of that name', (role) => {
    expect(readComposeServices()[role]?.command).toEqual(['run', role]);
  });

  /** What the program makes of an environment; what it refuses counts too. */
  const settingsOf = (environment: Readonly<Record<string, string>>): unknown => {
    try {
      return readProcessContext({}, environment).settings;
    } catch (error) {
      return String(error);
    }
  };

  it.each(ROLES)('each variable of %s is one that the program reads', (role) => {
    const environment = readComposeServices()[role]?.environment ?? {};
    const meant = settingsOf(environment);
    expect(meant).toMatchObject({ cluster: {} });
    for (const [variable, value] of Object.entries(environment)) {
      expect(settingsOf({ ...environment, [variable]: `${value}?` }), variable).not.toEqual(meant);
    }
  });

  const ports = { gateway: 7400, control: 7401, engine: 7402, delivery: 7403 };
  it.each(ROLES)('%s is asked where it listens, and reached by others', (role) => {
    const { environment = {}, healthcheck } = readComposeServices()[role] ?? {};
    expect(healthcheck).toEqual(['node', '/app/health-check.js', `http://127.0.0.1:${ports[role]}/readyz`]);
    const { host, gatewayPort, controlPort, healthPort } = readSettings({}, environment);
    expect({ host, gatewayPort, controlPort, healthPort }).toEqual({
      host: '0.0.0.0',
      gatewayPort: ports.gateway,
      controlPort: ports.control,
      healthPort: null,
    });
  });

  it('keep one copy on one broker, and three on three', () => {
    for (const role of ROLES) {
      const one = readSettings({}, readComposeServices(...ONE)[role]?.environment ?? {});
      expect(one.cluster?.kafka).toEqual({ brokers: ['kafka-1:9092'], singleBroker: true });
      const three = readSettings({}, readComposeServices(...THREE)[role]?.environment ?? {});
      expect(three.cluster?.kafka).toEqual({
        brokers: ['kafka-1:9092', 'kafka-2:9092', 'kafka-3:9092'],
        singleBroker: false,
      });
    }
  });
});

describe('A power cut', () => {
  const flushedAfter = (...files: readonly string[]): string | undefined =>
    readCompose(...files).services['kafka-1']?.environment?.['KAFKA_LOG_FLUSH_INTERVAL_MESSAGES'];

  it('loses nothing acknowledged: a single broker syncs to disk, three brokers replicate', () => {
    expect(flushedAfter(...ONE)).toBe('1');
    // What Kafka does unless told.
    expect(flushedAfter(...THREE)).toBe('9223372036854775807');
  });
});

describe('Three brokers', () => {
  const deployment = readCompose(...THREE);
  const brokers = ['kafka-1', 'kafka-2', 'kafka-3'] as const;

  it('are a separate deployment, because it refuses topics with one copy', () => {
    expect(deployment.name).not.toBe(readCompose(...ONE).name);
  });

  it('differ only in their identity', () => {
    const own = brokers.map((name, at) => {
      const {
        environment: { KAFKA_NODE_ID, KAFKA_ADVERTISED_LISTENERS, ...same } = {},
        volumes,
        ...rest
      } = deployment.services[name] as ComposeService;
      expect(KAFKA_NODE_ID).toBe(String(at + 1));
      expect(KAFKA_ADVERTISED_LISTENERS).toBe(`PLAINTEXT://${name}:9092`);
      expect(volumes).toEqual([`${name}-data:/var/lib/kafka/data`]);
      return { same, rest };
    });
    expect(own[1]).toEqual(own[0]);
    expect(own[2]).toEqual(own[0]);
    expect(own[0]?.same).toMatchObject({
      KAFKA_CONTROLLER_QUORUM_VOTERS: brokers.map((name, at) => `${at + 1}@${name}:9093`).join(','),
      KAFKA_DEFAULT_REPLICATION_FACTOR: '3',
      KAFKA_MIN_INSYNC_REPLICAS: '2',
    });
  });

  it('are waited for by all who need a broker', () => {
    for (const name of [...ROLES, 'registry']) {
      expect(Object.keys(deployment.services[name]?.depends_on ?? {}), name).toEqual(
        expect.arrayContaining([...brokers]),
      );
    }
  });
});
