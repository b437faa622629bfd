import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { formatFault, LISTEN, readStartSettings } from '@carillon/configuration';
import { type StartSettings } from '@carillon/configuration';
import { CarillonError, messageOf, type Duration } from '@carillon/kernel';
import { clusterSettings, type ClusterSettings } from './cluster-settings.ts';
import type { BounceSettings } from '@carillon/ports';
import type { Environment } from './environment.ts';
import { withSecretFiles } from './secret-files.ts';
import { ownSecrets, workspaceSecrets } from './workspace-secrets.ts';

/**
 * Settings of one process, from flags, then the environment, then carillon.yaml, then defaults. All faults are reported
 * together.
 */
export type ProcessSettings = {
  /** Keys, owner token, and on the embedded backend the data. */
  readonly dataDir: string;
  readonly host: string;
  readonly gatewayPort: number;
  readonly controlPort: number;
  /** Null: the role's own (engine 7402, delivery 7403, gateway 7404). */
  readonly healthPort: number | null;
  /** Bearer token for metrics and readiness details. Null allows local requests only. */
  readonly healthToken: string | null;
  /** Where clients reach the intake, with `/events`. Null: what the gateway's own settings say. */
  readonly eventsUrl: string | null;
  /** Listener of the gateway for bounce mail. Null: nowhere. */
  readonly bounces: BounceSettings | null;
  /** Maximum time for which a role retries a failing start before it ends. */
  readonly startTimeout: Duration;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly otlpEndpoint: string | null;
  readonly traceRatio: number;
  /** Ranges of private addresses that tenants may name: partners and key sets inside our own network. */
  readonly allowedPrivateAddresses: readonly string[];
  /** Addresses and ranges of proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Variables that workspaces read under their own names: `NAME`, or `workspace/NAME` for one. */
  readonly workspaceSecrets: readonly string[];
  /** Secrets that carillon.yaml names for the start: no workspace reads these. */
  readonly ownSecrets: readonly string[];
  /** Null: the embedded backend. */
  readonly cluster: ClusterSettings | null;
};

export type ProcessFlags = {
  readonly config?: string;
  readonly dataDir?: string;
  readonly host?: string;
  readonly gatewayPort?: string;
  readonly controlPort?: string;
  readonly healthPort?: string;
  readonly logLevel?: string;
};

export type { Environment };
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const BACKENDS = ['embedded', 'cluster'] as const;

/** Throws CarillonError `wrong_usage` with one line for each fault. */
export function readSettings(flags: ProcessFlags, env: Environment): ProcessSettings {
  const { settings, faults } = settingsOf(flags, env, []);
  if (faults.length > 0) throw new CarillonError('wrong_usage', faults.join('\n'));
  return settings;
}

/** Start inputs of a process: its settings, and its environment with the secrets from files. */
export type ProcessContext = {
  readonly settings: ProcessSettings;
  readonly env: Environment;
  /** Missing and wrong settings. A setting with a fault has its default value. */
  readonly faults: readonly string[];
};

export function findProcessContext(flags: ProcessFlags, environment: Environment): ProcessContext {
  const faults: string[] = [];
  const env = withSecretFiles(environment, faults);
  return { ...settingsOf(flags, env, faults), env };
}

/** Reads the settings like `findProcessContext`, but throws CarillonError `wrong_usage` with one line per fault. */
export function readProcessContext(flags: ProcessFlags, environment: Environment): ProcessContext {
  const context = findProcessContext(flags, environment);
  if (context.faults.length > 0) throw new CarillonError('wrong_usage', context.faults.join('\n'));
  return context;
}

function settingsOf(flags: ProcessFlags, env: Environment, faults: string[]): Omit<ProcessContext, 'env'> {
  const file = readFile(flags.config || env['CARILLON_CONFIG'], faults);
  const port = <Otherwise>(flag: string | undefined, variable: string, name: string, otherwise: Otherwise) => {
    const text = flag ?? env[variable];
    if (text === undefined || text === '') return otherwise;
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isInteger(number) && number <= 65_535) return number;
    faults.push(`${name} (${variable}): expected a port from 0 to 65535, found ${JSON.stringify(text)}`);
    return otherwise;
  };
  const settings: ProcessSettings = {
    dataDir: flags.dataDir || env['CARILLON_DATA_DIR'] || './carillon-data',
    host: flags.host || env['CARILLON_HOST'] || '127.0.0.1',
    gatewayPort: port(flags.gatewayPort, 'CARILLON_GATEWAY_PORT', '--gateway-port', 7400),
    controlPort: port(flags.controlPort, 'CARILLON_CONTROL_PORT', '--control-port', 7401),
    healthPort: port(flags.healthPort, 'CARILLON_HEALTH_PORT', '--health-port', null),
    healthToken: healthToken(env['CARILLON_HEALTH_TOKEN'] || null, faults),
    eventsUrl: eventsUrl(env, faults),
    bounces: bounceSettings(env, file, faults),
    startTimeout: startTimeout(env['CARILLON_START_PATIENCE'] || '0', faults),
    logLevel: logLevel(flags.logLevel || env['CARILLON_LOG_LEVEL'] || 'warn', faults),
    otlpEndpoint: otlpEndpoint(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || null, faults),
    traceRatio: traceRatio(env['CARILLON_TRACE_RATIO'] || '1', faults),
    allowedPrivateAddresses:
      env['CARILLON_ALLOWED_PRIVATE_ADDRESSES']?.split(/[\s,]+/).filter(Boolean) ??
      file.allowed_private_addresses ??
      [],
    trustedProxies: trustedProxies(env, file, faults),
    workspaceSecrets: workspaceSecrets(env, file, faults),
    ownSecrets: ownSecrets(file),
    cluster: backend(env, file, faults) === 'cluster' ? clusterSettings(env, file, faults) : null,
  };
  return { settings, faults };
}

function readFile(path: string | undefined, faults: string[]): StartSettings {
  if (!path) return {};
  try {
    const read = readStartSettings(path, readFileSync(path, 'utf8'));
    faults.push(...read.faults.map(formatFault));
    return read.settings;
  } catch (error) {
    faults.push(`--config (CARILLON_CONFIG): ${path} cannot be read: ${messageOf(error)}`);
    return {};
  }
}

function backend(env: Environment, file: StartSettings, faults: string[]): (typeof BACKENDS)[number] {
  const named = env['CARILLON_BACKEND'] || file.backend;
  const implied = env['CARILLON_BROKERS'] || file.brokers ? 'cluster' : 'embedded';
  const found = BACKENDS.find((one) => one === (named ?? implied));
  if (!found) faults.push(`CARILLON_BACKEND: expected embedded or cluster, found ${JSON.stringify(named)}`);
  return found ?? 'embedded';
}

function trustedProxies(env: Environment, file: StartSettings, faults: string[]): readonly string[] {
  const named = env['CARILLON_TRUSTED_PROXIES']?.split(/[\s,]+/).filter(Boolean) ?? file.trusted_proxies ?? [];
  const wrong = named.find((text) => !isRange(text));
  if (wrong !== undefined) {
    faults.push(
      `CARILLON_TRUSTED_PROXIES (trusted_proxies): expected addresses or ranges such as 10.0.0.0/8, found ${JSON.stringify(wrong)}`,
    );
  }
  return named;
}

/**
 * Returns true for an address or a CIDR range of at least one bit, because a range of zero bits would trust every
 * client.
 */
function isRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Its value is never repeated. */
function healthToken(text: string | null, faults: string[]): string | null {
  if (text !== null && !/^[\x21-\x7e]{32,}$/.test(text)) {
    faults.push(
      'CARILLON_HEALTH_TOKEN: expected 32 characters or more, without spaces; make one with: openssl rand -hex 32',
    );
  }
  return text;
}

function eventsUrl(env: Environment, faults: string[]): string | null {
  const text = env['CARILLON_EVENTS_URL'] || null;
  if (text === null) return null;
  if (!(/^https?:\/\//.test(text) && URL.canParse(text))) {
    faults.push(
      `CARILLON_EVENTS_URL: expected an address such as https://events.example.com/events, found ${JSON.stringify(text)}`,
    );
  }
  return text.replace(/\/+$/, '');
}

const PROTOCOLS = ['lmtp', 'smtp'] as const;

function bounceSettings(env: Environment, file: StartSettings, faults: string[]): BounceSettings | null {
  const listen = env['CARILLON_BOUNCES_LISTEN'] || file.bounces?.listen;
  if (!listen) return null;
  const [, host = '', port = ''] = LISTEN.exec(listen) ?? [];
  if (host === '' || Number(port) > 65_535) {
    faults.push(`CARILLON_BOUNCES_LISTEN (bounces.listen): expected 127.0.0.1:7425, found ${JSON.stringify(listen)}`);
  }
  const named = env['CARILLON_BOUNCES_PROTOCOL'] || file.bounces?.protocol || 'lmtp';
  const protocol = PROTOCOLS.find((one) => one === named);
  if (!protocol) faults.push(`CARILLON_BOUNCES_PROTOCOL: expected lmtp or smtp, found ${JSON.stringify(named)}`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port), protocol: protocol ?? 'lmtp' };
}

function logLevel(text: string, faults: string[]): ProcessSettings['logLevel'] {
  const level = LEVELS.find((one) => one === text);
  if (!level)
    faults.push(`--log-level (CARILLON_LOG_LEVEL): expected ${LEVELS.join(', ')}, found ${JSON.stringify(text)}`);
  return level ?? 'warn';
}

function startTimeout(text: string, faults: string[]): Duration {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= 3600) return seconds * 1000;
  faults.push(`CARILLON_START_PATIENCE: expected seconds from 0 to 3600, found ${JSON.stringify(text)}`);
  return 0;
}

function traceRatio(text: string, faults: string[]): number {
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  faults.push(`CARILLON_TRACE_RATIO: expected a number from 0 to 1, found ${JSON.stringify(text)}`);
  return 1;
}

function otlpEndpoint(text: string | null, faults: string[]): string | null {
  if (text === null || (/^https?:\/\//.test(text) && URL.canParse(text))) return text;
  faults.push(
    `OTEL_EXPORTER_OTLP_ENDPOINT: expected an address such as http://127.0.0.1:4318, found ${JSON.stringify(text)}`,
  );
  return null;
}
