import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { allowAddress } from '@carillon/domain/changes';
import type { AddressGuard, TopicTarget } from '@carillon/ports';
import kafkajs, { type ISocketFactory } from 'kafkajs';
import brokerClass from 'kafkajs/src/broker/index.js';
import poolClass from 'kafkajs/src/network/connectionPool.js';
import { quietenPollingTimer } from '../connection/polling-timer.ts';
import { limitAnswers, readWholeAnswers } from '../connection/whole-answers.ts';
import { boundedSasl } from './bounded-scram.ts';
import { failureAt, waiting } from './failures.ts';
import { NEEDED_VERSIONS, type ProtocolRequest } from './requests.ts';

type Pool = { send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer> };
type Offsets = {
  readonly responses: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
  }[];
};
type TheirBroker = {
  readonly versions: Readonly<Record<string, { readonly maxVersion: number }>> | null;
  connect(): Promise<void>;
  listOffsets(request: {
    readonly replicaId: number;
    readonly isolationLevel: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
    }[];
  }): Promise<Offsets>;
};
const KafkaPool = poolClass as new (options: object) => Pool;
const KafkaBroker = brokerClass as new (options: object) => TheirBroker;

export type BrokerTiming = { readonly connectMs: number; readonly answerMs: number };

/** A broker of a cluster that a tenant names, as far as a reader needs it. Rejects with TopicFailure. */
export type ForeignBroker = {
  readonly name: string;
  send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer>;
  /** Offsets at a time of Kafka's own: -2 the oldest, -1 the end. `isCommitted`: ends before open transactions. */
  offsets(
    topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
    time: number,
    isCommitted: boolean,
  ): Promise<Offsets['responses']>;
  close(): void;
};

const SILENT = new kafkajs.Kafka({ brokers: ['127.0.0.1:1'], logLevel: kafkajs.logLevel.NOTHING }).logger();
const CLIENT_ID = 'carillon-source';
const KEEP_ALIVE_MS = 30_000;
/** A batch has at most 16 MiB, also unpacked, and a fetch asks for less. */
const MAX_ANSWER_BYTES = 36 * 1024 * 1024;
const HOST = /^[A-Za-z0-9_.:-]{1,253}$/;

/**
 * Connects to a broker. The name is resolved once, every address is judged by the guard, and the connection goes to one of those. At a
 * public address it always uses TLS and checks the certificate. Rejects once `closing` aborts, or after the time for an answer; the
 * connection ends with `closing` too.
 */
export async function connectBroker(
  guard: AddressGuard,
  target: TopicTarget,
  { host, port }: { readonly host: string; readonly port: number },
  { connectMs, answerMs }: BrokerTiming,
  closing: AbortSignal,
): Promise<ForeignBroker> {
  const name = `${HOST.test(host) ? host : 'a broker without a name'}:${port}`;
  if (!HOST.test(host) || !(port > 0 && port < 65_536)) throw waiting('unreachable', `${name} is no address.`);
  const deadline = AbortSignal.any([closing, AbortSignal.timeout(answerMs)]);
  const address = await orFail(name, unlessAborted(deadline, allowedAddress(guard, host, name)));
  const sockets = new Set<Socket>();
  let isClosed = false;
  const ssl = address.isPublic || target.tls !== null ? tlsOf(target, host) : null;
  const socketFactory: ISocketFactory = ({ onConnect }) => {
    if (isClosed) throw new Error('this connection was closed');
    const to = { host: address.address, port };
    const socket = ssl ? connectTls({ ...ssl, ...to }, onConnect) : connectPlain(to, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    limitAnswers(socket, MAX_ANSWER_BYTES);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  quietenPollingTimer();
  readWholeAnswers();
  const pool = new KafkaPool({
    host,
    port,
    logger: SILENT,
    socketFactory,
    clientId: CLIENT_ID,
    connectionTimeout: connectMs,
    requestTimeout: answerMs,
    ssl: ssl ?? undefined,
    ...(target.sasl && { sasl: boundedSasl(target.sasl) }),
  });
  const broker = new KafkaBroker({ connectionPool: pool, logger: SILENT, allowAutoTopicCreation: false });
  const close = (): void => {
    isClosed = true;
    closing.removeEventListener('abort', close);
    // With an error, because kafkajs does not listen for a mere close.
    for (const socket of sockets) socket.destroy(new Error('this connection was closed'));
  };
  closing.addEventListener('abort', close, { once: true });
  try {
    // A broker older than 1.0 may never respond to a login, and kafkajs sets no timeout for the response. The deadline
    // ends the wait.
    await orFail(name, unlessAborted(deadline, broker.connect()));
    refuseOld(broker.versions);
  } catch (error) {
    close();
    throw error;
  }
  return {
    name,
    send: (request) => orFail(name, unlessAborted(closing, pool.send(request))),
    async offsets(topics, timestamp, isCommitted) {
      const answer = await orFail(
        name,
        unlessAborted(
          closing,
          broker.listOffsets({
            replicaId: -1,
            isolationLevel: isCommitted ? 1 : 0,
            topics: topics.map(({ topic, partitions }) => ({
              topic,
              partitions: partitions.map((partition) => ({ partition, timestamp })),
            })),
          }),
        ),
      );
      return answer.responses;
    },
    close,
  };
}

async function orFail<Value>(name: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw failureAt(name, error);
  }
}

/** Resolves as `work` does, and rejects as soon as the signal aborts. */
async function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(Object.assign(new Error('it was closed'), { code: 'ETIMEDOUT' }));
  });
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function allowedAddress(guard: AddressGuard, host: string, name: string) {
  const resolved = await guard.resolve(host);
  if (!resolved.ok) {
    const { detail, fix } = allowAddress(host, isIP(host) === 0);
    throw waiting('refused_address', detail === null ? name : `${name}: ${detail}`, fix);
  }
  const [first] = resolved.value;
  if (first === undefined) throw waiting('unreachable', `${name}: its name leads nowhere.`);
  // All of them have to be private for a connection in the clear.
  return { ...first, isPublic: resolved.value.some(({ isPublic }) => isPublic) };
}

function tlsOf({ tls }: TopicTarget, host: string): ConnectionOptions {
  return {
    // If the host is an address, Node compares the certificate with the address.
    ...(isIP(host) === 0 && { servername: host }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(tls?.ca && { ca: [tls.ca] }),
  };
}

function refuseOld(versions: TheirBroker['versions']): void {
  const lacking = Object.entries(NEEDED_VERSIONS).flatMap(([key, { name, version }]) => {
    const found = versions?.[key]?.maxVersion ?? 0;
    return found >= version ? [] : [`${name} ${found} instead of ${version}`];
  });
  if (lacking.length > 0) throw waiting('too_old', `It speaks ${lacking.join(' and ')}.`);
}
