import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Kafka, logLevel, type ISocketFactory, type LogEntry, type RetryOptions } from 'kafkajs';
import { readWantedRecords } from '../reading/fetch-response.ts';
import { fetchFromLeadersOnly } from './leader-only-fetch.ts';
import { checkBrokers, REQUEST_TIMEOUT, type KafkaConnection, type KafkaLogLine, type KafkaTls } from './options.ts';
import { quietenPollingTimer } from './polling-timer.ts';
import { readWholeAnswers } from './whole-answers.ts';

/** Short, because whoever calls has a deadline and begins anew with another client. */
export const FEW_RETRIES: RetryOptions = {
  initialRetryTime: 50,
  maxRetryTime: 250,
  multiplier: 1.5,
  factor: 0.2,
  retries: 2,
};

const CONNECT_TIMEOUT_MS = 3000;
const KEEP_ALIVE_MS = 30_000;
const LEVELS: Readonly<Record<number, KafkaLogLine['level']>> = { 1: 'error', 2: 'warn', 4: 'info', 5: 'debug' };

/**
 * A `Kafka` object for one client, because clients that share one overwrite each other's positions. All its connections
 * can be cut at once, which kafkajs itself cannot do: a client that was given up must not send anything later.
 */
export type KafkaClient = {
  readonly kafka: Kafka;
  readonly settings: ClientSettings;
  /** Ends all connections and lets no new one begin. What waits for an answer is rejected. */
  cut(): void;
};

export type ClientSettings = {
  readonly socketFactory: ISocketFactory;
  readonly brokers: string[];
  readonly clientId: string;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly ssl?: ReturnType<typeof tlsOptions>;
  readonly sasl?: NonNullable<KafkaConnection['sasl']>;
};

export function createClient(connection: KafkaConnection, retry: RetryOptions = FEW_RETRIES): KafkaClient {
  checkBrokers(connection.brokers);
  quietenPollingTimer();
  readWholeAnswers();
  fetchFromLeadersOnly();
  readWantedRecords();
  const sockets = new Set<Socket>();
  let ended = false;

  const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    if (ended) throw new Error('this client was closed after a failure');
    const name = isIP(host) ? {} : { servername: host };
    const socket = ssl
      ? connectTls({ host, port, ...name, ...ssl }, onConnect)
      : connectPlain({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  const settings: ClientSettings = {
    socketFactory,
    brokers: [...connection.brokers],
    clientId: connection.clientId,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: connection.requestTimeout ?? REQUEST_TIMEOUT,
    ...(connection.tls && { ssl: tlsOptions(connection.tls) }),
    // A copy: kafkajs keeps the means of authentication in it, which would outlive a change of the password.
    ...(connection.sasl && { sasl: { ...connection.sasl } }),
  };
  const kafka = new Kafka({
    ...settings,
    sasl: settings.sasl as never,
    retry,
    logLevel: connection.log ? logLevel.INFO : logLevel.NOTHING,
    // What a client that was given up says of its cut connections is no news.
    logCreator: () => (entry) => {
      if (!ended) connection.log?.(lineOf(entry));
    },
  });
  return {
    kafka,
    settings,
    cut() {
      ended = true;
      // With an error, because kafkajs does not listen for a mere close.
      for (const socket of sockets) socket.destroy(new Error('this client was closed after a failure'));
    },
  };
}

function tlsOptions(tls: KafkaTls | true): Record<string, unknown> {
  if (tls === true) return {};
  const { ca, cert, key, passphrase, serverName } = tls;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(passphrase !== undefined && { passphrase }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

function lineOf({ level, log }: LogEntry): KafkaLogLine {
  const broker: unknown = log['broker'];
  return {
    level: LEVELS[level] ?? 'info',
    message: log.message,
    ...(typeof broker === 'string' && { broker }),
  };
}
