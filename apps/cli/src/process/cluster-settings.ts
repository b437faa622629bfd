import { readFileSync } from 'node:fs';
import type { KafkaConnection, KafkaSasl, KafkaTls } from '@carillon/adapter-kafka';
import type { RegistryConnection } from '@carillon/adapter-schema-registry';
import { BROKER, type StartSettings } from '@carillon/configuration';
import { messageOf } from '@carillon/kernel';
import type { Environment } from './environment.ts';

/** Where a cluster's log, stores and schemas are, with the secrets that open them: never printed. */
export type ClusterSettings = {
  readonly kafka: {
    readonly brokers: readonly string[];
    readonly singleBroker: boolean;
    readonly tls?: KafkaTls | true;
    readonly sasl?: KafkaSasl;
  };
  readonly stores: {
    readonly url: string;
    readonly database: string;
    readonly tls?: PemTexts;
    readonly credentials?: { readonly username: string; readonly password: string };
  };
  readonly registry: RegistryConnection;
};

/** How a process connects to the brokers under a name. */
export const kafkaConnection = (
  { brokers, tls, sasl }: ClusterSettings['kafka'],
  clientId: string,
): Omit<KafkaConnection, 'log'> => ({ brokers, clientId, ...(tls && { tls }), ...(sasl && { sasl }) });

type PemTexts = { readonly ca?: string; readonly cert?: string; readonly key?: string };
type Secret = { readonly secret: string };
type TlsFiles = { readonly ca_file?: string; readonly cert_file?: string; readonly key_file?: string };
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** The environment goes before the file, value by value. What is missing or wrong is added to the faults. */
export function clusterSettings(env: Environment, file: StartSettings, faults: string[]): ClusterSettings {
  const source = { env, faults };
  return {
    kafka: kafkaOf(source, file),
    stores: storesOf(source, file),
    registry: registryOf(source, file),
  };
}

type Source = { readonly env: Environment; readonly faults: string[] };

function kafkaOf(source: Source, file: StartSettings): ClusterSettings['kafka'] {
  const { env, faults } = source;
  const named = env['CARILLON_BROKERS']?.split(',').map((one) => one.trim());
  const brokers = (named ?? file.brokers ?? []).filter((one) => one !== '');
  if (brokers.length === 0) faults.push('CARILLON_BROKERS (brokers): name Kafka brokers, such as kafka-1:9092');
  for (const broker of brokers) {
    if (!BROKER.test(broker)) faults.push(`CARILLON_BROKERS: expected host:port, found ${JSON.stringify(broker)}`);
  }
  const pem = pemTexts(source, 'CARILLON_KAFKA', file.kafka?.tls);
  const wanted = flag(source, 'CARILLON_KAFKA_TLS', file.kafka?.tls !== undefined || pem !== undefined);
  const sasl = saslOf(source, file);
  return {
    brokers,
    singleBroker: flag(source, 'CARILLON_SINGLE_BROKER', file.single_broker ?? false),
    ...(!wanted ? {} : { tls: pem ?? (true as const) }),
    ...(sasl && { sasl }),
  };
}

function saslOf(source: Source, file: StartSettings): KafkaSasl | undefined {
  const { env, faults } = source;
  const given = file.kafka?.sasl;
  const named = env['CARILLON_KAFKA_SASL_MECHANISM'] || given?.mechanism;
  const username = env['CARILLON_KAFKA_USERNAME'] || given?.username;
  if (named === undefined && username === undefined) return undefined;
  const password = secretOf(source, 'CARILLON_KAFKA_PASSWORD', given?.password, 'kafka.sasl.password');
  const mechanism = MECHANISMS.find((one) => one === named);
  if (!mechanism)
    faults.push(
      `CARILLON_KAFKA_SASL_MECHANISM: expected ${MECHANISMS.join(', ')}, found ${JSON.stringify(named ?? '')}`,
    );
  if (!username) faults.push('CARILLON_KAFKA_USERNAME (kafka.sasl.username): SASL needs a user name');
  if (password === undefined) faults.push('CARILLON_KAFKA_PASSWORD (kafka.sasl.password): SASL needs a password');
  return { mechanism: mechanism ?? 'plain', username: username ?? '', password: password ?? '' };
}

function storesOf(source: Source, file: StartSettings): ClusterSettings['stores'] {
  const { env, faults } = source;
  const url = env['CARILLON_MONGODB_URL'] || file.stores?.url || '';
  if (!/^mongodb(?:\+srv)?:\/\/\S+$/.test(url)) {
    // A wrong one may still hold a password: it is not repeated.
    faults.push('CARILLON_MONGODB_URL (stores.url): expected an address such as mongodb://mongo-1:27017');
  }
  const username = env['CARILLON_MONGODB_USERNAME'] || file.stores?.username;
  const password = secretOf(source, 'CARILLON_MONGODB_PASSWORD', file.stores?.password, 'stores.password');
  halfPair(username, password, 'CARILLON_MONGODB', faults);
  const tls = pemTexts(source, 'CARILLON_MONGODB', file.stores?.tls);
  return {
    url,
    database: env['CARILLON_MONGODB_DATABASE'] || (file.stores?.database ?? 'carillon'),
    ...(tls && { tls }),
    ...(username !== undefined && { credentials: { username, password: password ?? '' } }),
  };
}

function registryOf(source: Source, file: StartSettings): RegistryConnection {
  const { env, faults } = source;
  const url = env['CARILLON_SCHEMA_REGISTRY_URL'] || file.schema_registry?.url || '';
  if (!/^https?:\/\/[^/\s]\S*$/.test(url)) {
    faults.push('CARILLON_SCHEMA_REGISTRY_URL (schema_registry.url): expected an address such as http://registry:8081');
  }
  const username = env['CARILLON_SCHEMA_REGISTRY_USERNAME'] || file.schema_registry?.username;
  const password = secretOf(
    source,
    'CARILLON_SCHEMA_REGISTRY_PASSWORD',
    file.schema_registry?.password,
    'schema_registry.password',
  );
  halfPair(username, password, 'CARILLON_SCHEMA_REGISTRY', faults);
  const tls = pemTexts(source, 'CARILLON_SCHEMA_REGISTRY', file.schema_registry?.tls);
  return {
    url,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
  };
}

/** With only one of them set, the connection would have no user or an empty password. */
function halfPair(username: string | undefined, password: string | undefined, prefix: string, faults: string[]): void {
  if ((username === undefined) === (password === undefined)) return;
  faults.push(`${prefix}_USERNAME and ${prefix}_PASSWORD: one is given without the other`);
}

function flag({ env, faults }: Source, variable: string, otherwise: boolean): boolean {
  const text = env[variable];
  if (text === undefined || text === '') return otherwise;
  if (text !== 'true' && text !== 'false')
    faults.push(`${variable}: expected true or false, found ${JSON.stringify(text)}`);
  return text === 'true';
}

/** A file names a variable; what it holds is never in a file of the configuration. */
function secretOf({ env, faults }: Source, variable: string, reference: Secret | undefined, key: string) {
  if (env[variable]) return env[variable];
  if (!reference) return undefined;
  const value = env[reference.secret];
  if (!value) faults.push(`${key}: the environment has no ${reference.secret}`);
  return value;
}

function pemTexts({ env, faults }: Source, prefix: string, files: TlsFiles | undefined): PemTexts | undefined {
  const read = (variable: string, path: string | undefined): string | undefined => {
    if (!path) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      faults.push(`${variable}: ${path} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  };
  const text = (what: 'ca' | 'cert' | 'key'): string | undefined => {
    const variable = `${prefix}_${what.toUpperCase()}_FILE`;
    return read(variable, env[variable] || files?.[`${what}_file`]);
  };
  const [ca, cert, key] = [text('ca'), text('cert'), text('key')];
  if ((cert === undefined) !== (key === undefined)) {
    faults.push(`${prefix}_CERT_FILE and ${prefix}_KEY_FILE: a certificate and its key belong together`);
  }
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}
