/** What a client must bring to the second listener: trust in this certificate, and the name and password of a user. */
export type KafkaSecurity = {
  /** PEM, for `localhost`. */
  readonly cert: string;
  readonly key: string;
  /** Password by name, for SASL PLAIN and SCRAM-SHA-512. */
  readonly users: Readonly<Record<string, string>>;
};

/** The name under which brokers tell clients to reach that listener, because the certificate is checked against it. */
export const SECURED_HOST = 'localhost';

const LOGIN = 'org.apache.kafka.common.security';

/** Arguments of `java` that tell a running cluster a user's password for SCRAM; that of PLAIN stands in its configuration. */
export const scramPassword = (broker: string, user: string, password: string): readonly string[] => [
  'kafka.admin.ConfigCommand',
  '--bootstrap-server',
  broker,
  '--alter',
  '--entity-type',
  'users',
  '--entity-name',
  user,
  '--add-config',
  `SCRAM-SHA-512=[iterations=4096,password=${password}]`,
];

/** In a properties file a value ends with its line. */
const oneLine = (pem: string): string => pem.trim().replaceAll('\n', String.raw`\n`);

/** Properties that add a listener with TLS and SASL to those that are there. */
export function securedListener(
  properties: Readonly<Record<string, string>>,
  port: number,
  { cert, key, users }: KafkaSecurity,
): Readonly<Record<string, string>> {
  const added = (name: string, value: string): Readonly<Record<string, string>> => ({
    [name]: `${properties[name]},${value}`,
  });
  const listed = Object.entries(users).map(([name, password]) => ` user_${name}="${password}"`);
  const own = 'listener.name.secured';
  return {
    ...properties,
    ...added('listeners', `SECURED://127.0.0.1:${port}`),
    ...added('advertised.listeners', `SECURED://${SECURED_HOST}:${port}`),
    ...added('listener.security.protocol.map', 'SECURED:SASL_SSL'),
    [`${own}.ssl.keystore.type`]: 'PEM',
    [`${own}.ssl.keystore.certificate.chain`]: oneLine(cert),
    [`${own}.ssl.keystore.key`]: oneLine(key),
    [`${own}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-512',
    [`${own}.scram-sha-512.sasl.jaas.config`]: `${LOGIN}.scram.ScramLoginModule required;`,
    [`${own}.plain.sasl.jaas.config`]: `${LOGIN}.plain.PlainLoginModule required${listed.join('')};`,
  };
}
