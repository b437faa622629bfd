import { isCarillonError } from '@carillon/kernel';

/** The error and what caused it: kafkajs wraps what it gives up. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 6; at = at.cause) chain.push(at);
  return chain;
}

/** Kafka's own name of the error, where a broker answered with one. */
function typeOf(error: unknown): string {
  const types = chainOf(error).map((each) => ('type' in each ? each.type : null));
  return types.find((type) => typeof type === 'string') ?? '';
}

const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  chainOf(error).some(({ name }) => names.includes(name));

/** Leaders have moved: fresh metadata helps. */
const STALE = new Set([
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'OFFSET_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'KAFKA_STORAGE_ERROR',
]);

/** No repetition helps: a person has to give a right, or a program to ask for something else. */
const REFUSED = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'INCONSISTENT_GROUP_PROTOCOL',
  'INVALID_SESSION_TIMEOUT',
  'INVALID_GROUP_ID',
  'UNSUPPORTED_VERSION',
  'UNSUPPORTED_SASL_MECHANISM',
  'SASL_AUTHENTICATION_FAILED',
]);

/** Answers about the group, for the member to act upon. */
const GROUP = new Set([
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'FENCED_INSTANCE_ID',
  'GROUP_MAX_SIZE_REACHED',
]);

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/** Error for something that does not exist yet, in the form of a broker's error. */
export const staleError = (message: string): Error =>
  Object.assign(new Error(message), { type: 'LEADER_NOT_AVAILABLE' });
export const isStale = (error: unknown): boolean => STALE.has(typeOf(error));
/** One connection ended; the other brokers may be well. */
export const isDisconnection = (error: unknown): boolean =>
  isNamed(error, 'KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSBrokerNotFound');
export const isRefusal = (error: unknown): boolean =>
  REFUSED.has(typeOf(error)) || isNamed(error, 'KafkaJSSASLAuthenticationError');
export const isTooLarge = (error: unknown): boolean => TOO_LARGE.has(typeOf(error));
export const isRebalance = (error: unknown): boolean => typeOf(error) === 'REBALANCE_IN_PROGRESS';
export const isOutOfRange = (error: unknown): boolean => typeOf(error) === 'OFFSET_OUT_OF_RANGE';
/** The partition that a refused fetch was about, where the answer says so. */
export const partitionOf = (error: unknown): number | null => {
  const partition: unknown = error instanceof Error ? (error as unknown as Record<string, unknown>)['partition'] : null;
  return typeof partition === 'number' ? partition : null;
};
/** The group goes on without this member. */
export const isExpulsion = (error: unknown): boolean => GROUP.has(typeOf(error)) && !isRebalance(error);

/** A record that kafkajs cannot read; other partitions can still be read. */
export const isUnreadable = (error: unknown): boolean =>
  typeOf(error) === 'CORRUPT_MESSAGE' ||
  isNamed(error, 'KafkaJSNotImplemented', 'RangeError', 'KafkaJSInvalidLongError', 'KafkaJSInvalidVarIntError');

/** Returns true for errors that are results and must not be retried. */
export const isAbandoning = (error: unknown): boolean =>
  isCarillonError(error) || isRefusal(error) || isOutOfRange(error) || isUnreadable(error) || GROUP.has(typeOf(error));
