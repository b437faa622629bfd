import type { Duration } from '@carillon/kernel';
import { CarillonError } from '@carillon/kernel';

/** How the identity of the brokers is proved, and ours if they ask for a certificate. PEM texts. */
export type KafkaTls = {
  readonly ca?: string | readonly string[];
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
  /** Name in the brokers' certificates where it is not the one they are reached by. */
  readonly serverName?: string;
};

export type KafkaSasl = {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
};

/** What the client says about its connections: never a record, a header or a credential. */
export type KafkaLogLine = {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly message: string;
  readonly broker?: string;
};

export type KafkaConnection = {
  /** `host:port` of brokers to begin with; the others are learned from them. */
  readonly brokers: readonly string[];
  /** Names this process in the brokers' logs and quotas. */
  readonly clientId: string;
  /** `true`: TLS with the certificate authorities that Node trusts. */
  readonly tls?: KafkaTls | true;
  readonly sasl?: KafkaSasl;
  /** How long one request may go unanswered before its connection counts as dead. */
  readonly requestTimeout?: Duration;
  readonly log?: (line: KafkaLogLine) => void;
};

export const REQUEST_TIMEOUT: Duration = 5000;

/** Refuses addresses that kafkajs would take for something else. */
export function checkBrokers(brokers: readonly string[]): void {
  const wrong = brokers.find((broker) => !/^[A-Za-z0-9_.-]+:\d{1,5}$/.test(broker));
  if (brokers.length > 0 && wrong === undefined) return;
  const what = wrong === undefined ? 'no broker is named' : `"${wrong}" is not host:port`;
  throw new CarillonError('invalid_configuration', `Kafka brokers: ${what}`);
}
