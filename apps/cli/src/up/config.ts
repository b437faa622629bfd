import { CarillonError } from '@carillon/kernel';

/** Settings of one process, from flags, then the environment, then defaults; all faults at once. */
export type UpConfig = {
  readonly dataDir: string;
  readonly host: string;
  readonly gatewayPort: number;
  readonly controlPort: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly otlpEndpoint: string | null;
  readonly traceRatio: number;
  /** Ranges of private addresses that tenants may name: partners and key sets inside our own network. */
  readonly allowedPrivateAddresses: readonly string[];
  /** Fill an empty folder with the demo workspace. */
  readonly demo: boolean;
  /** Where the demo's files are written. */
  readonly demoDir: string;
};

export type UpFlags = {
  readonly dataDir?: string;
  readonly host?: string;
  readonly gatewayPort?: string;
  readonly controlPort?: string;
  readonly logLevel?: string;
  readonly demo?: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export function readUpConfig(flags: UpFlags, env: Environment): UpConfig {
  const faults: string[] = [];
  const port = (flag: string | undefined, variable: string, name: string, otherwise: number): number => {
    const text = flag ?? env[variable];
    if (text === undefined || text === '') return otherwise;
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isInteger(number) && number <= 65_535) return number;
    faults.push(`${name} (${variable}): expected a port from 0 to 65535, found ${JSON.stringify(text)}`);
    return otherwise;
  };
  const level = flags.logLevel || env['CARILLON_LOG_LEVEL'] || 'warn';
  const logLevel = LEVELS.find((one) => one === level);
  if (!logLevel)
    faults.push(`--log-level (CARILLON_LOG_LEVEL): expected ${LEVELS.join(', ')}, found ${JSON.stringify(level)}`);
  const ratioText = env['CARILLON_TRACE_RATIO'] || '1';
  const traceRatio = Number(ratioText);
  if (!(traceRatio >= 0 && traceRatio <= 1)) {
    faults.push(`CARILLON_TRACE_RATIO: expected a number from 0 to 1, found ${JSON.stringify(ratioText)}`);
  }
  const otlp = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || null;
  if (otlp !== null && !(/^https?:\/\//.test(otlp) && URL.canParse(otlp))) {
    faults.push(
      `OTEL_EXPORTER_OTLP_ENDPOINT: expected an address such as http://127.0.0.1:4318, found ${JSON.stringify(otlp)}`,
    );
  }
  const config: UpConfig = {
    dataDir: flags.dataDir || env['CARILLON_DATA_DIR'] || './carillon-data',
    host: flags.host || env['CARILLON_HOST'] || '127.0.0.1',
    gatewayPort: port(flags.gatewayPort, 'CARILLON_GATEWAY_PORT', '--gateway-port', 7400),
    controlPort: port(flags.controlPort, 'CARILLON_CONTROL_PORT', '--control-port', 7401),
    logLevel: logLevel ?? 'warn',
    otlpEndpoint: otlp,
    traceRatio,
    allowedPrivateAddresses: (env['CARILLON_ALLOWED_PRIVATE_ADDRESSES'] ?? '').split(/[\s,]+/).filter(Boolean),
    demo: flags.demo ?? false,
    demoDir: './carillon-demo',
  };
  if (faults.length > 0) throw new CarillonError('wrong_usage', faults.join('\n'));
  return config;
}
