import { CarillonError } from '@carillon/kernel';
import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** The only sign of a duplicate. What the server writes beside it differs between servers and releases. */
const DUPLICATE = 11000;

/** Codes of servers that could not do it just now; what they were asked may or may not have happened. */
const TRANSIENT: ReadonlySet<number> = new Set([
  1, // internal error: what FerretDB answers while its PostgreSQL is away
  6, // host unreachable
  7, // host not found
  24, // lock timeout
  50, // exceeded time limit
  64, // write concern failed: no majority in time
  89, // network timeout
  91, // shutting down
  112, // write conflict
  133, // no primary that can be read from
  134, // read concern majority is not available yet
  189, // primary stepped down
  262, // exceeded time limit of the connection
  9001, // socket
  10107, // not the primary
  11600, // interrupted at shutdown
  11602, // interrupted by a change of state
  13435, // not the primary, and no reading from others
  13436, // neither primary nor secondary
  16908292, // deadlock, found by DocumentDB: one of two has to come again
]);

/** Thrown by an operation that has to be done again from its start: what it read does not fit what it was told. */
export class RetryFromStart extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'RetryFromStart';
  }
}

export const isDuplicate = (error: unknown): boolean => error instanceof MongoServerError && error.code === DUPLICATE;

const writeErrorsOf = (error: MongoBulkWriteError) => [error.writeErrors].flat();

/**
 * Returns the indexes of duplicates in an unordered bulk write; all other writes were done. Rethrows any other error,
 * after which the result of all writes is unknown. (The driver uses the same class for broken connections, but without
 * a list.)
 */
export function duplicatesIn(error: unknown): ReadonlySet<number> {
  if (!(error instanceof MongoBulkWriteError) || error.code !== DUPLICATE) throw error;
  const failures = writeErrorsOf(error);
  const onlyDuplicates = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE);
  if (!onlyDuplicates || error.result.getWriteConcernError()) throw error;
  return new Set(failures.map(({ index }) => index));
}

const isTransientCode = (code: unknown): boolean => typeof code === 'number' && TRANSIENT.has(code);

/** Whether the same again may go well: everything here is written so that doing it twice changes nothing. */
export function isTransient(error: unknown): boolean {
  if (error instanceof RetryFromStart) return true;
  if (error instanceof MongoBulkWriteError) {
    const others = writeErrorsOf(error).filter(({ code }) => code !== DUPLICATE);
    if (others.length > 0) return others.every(({ code }) => isTransientCode(code));
    if (error.result.getWriteConcernError()) return true;
    // Without a list the connection broke, or the server could not take the bulk as a whole.
    if (error.code === undefined || error.code === DUPLICATE || isTransientCode(error.code)) return true;
    return isSocketFault(error.errorResponse);
  }
  if (error instanceof MongoServerSelectionError) return !(error.cause && isRefusal(error.cause));
  if (error instanceof MongoNetworkError || error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoError)) return isSocketFault(error);
  return isTransientCode(error.code) || error.hasErrorLabel('RetryableWriteError');
}

/**
 * Returns true for errors of a connection that breaks during a write. The driver may pass on Node's error: a system
 * error, or one of Node's stream errors for a closed stream or (`EPIPE`) one closed by the other side.
 */
const isSocketFault = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  ('syscall' in error || error.code === 'EPIPE' || /^ERR_(STREAM|SOCKET)_/.test(error.code));

const UNAUTHORIZED = 13;
const WRONG_CREDENTIALS = 18;
const isRefusal = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === WRONG_CREDENTIALS || error.code === UNAUTHORIZED);

/** The innermost code of a chain of causes: `ECONNREFUSED`, `DEPTH_ZERO_SELF_SIGNED_CERT`, 18. */
function codeOf(error: unknown): string | null {
  let found: string | null = null;
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth += 1) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'number' || typeof code === 'string') found = String(code);
    at = at instanceof MongoServerSelectionError ? serverErrorOf(at) : at.cause;
  }
  return found;
}

/** Why the servers could not be selected: the last error that one of them gave. */
function serverErrorOf(error: MongoServerSelectionError): unknown {
  for (const server of error.reason?.servers.values() ?? []) if (server.error) return server.error;
  return error.cause;
}

/** The words of a server may repeat values of a document, and a bulk carries whole documents: neither goes into a log. */
function withoutWords(error: MongoError): Error {
  if (!(error instanceof MongoServerError)) return error;
  const { name, code, codeName } = error;
  return Object.assign(new Error(codeName ?? 'the server gave an error'), { name, code });
}

/** Unwraps a socket error within a bulk error, which copies its code and call and contains whole documents. */
const unwrapped = (error: unknown): unknown =>
  error instanceof MongoBulkWriteError && isSocketFault(error.errorResponse) ? error.errorResponse : error;

/** What leaves this adapter: a failure with a code of ours. */
export function failureOf(thrown: unknown): unknown {
  const error = unwrapped(thrown);
  if (error instanceof RetryFromStart) return unavailable(`${error.message}, ${IN_DOUBT}`, error);
  if (isSocketFault(error)) return unavailable(`it did not answer, ${IN_DOUBT}`, error, error.code);
  if (!(error instanceof MongoError)) return error;
  const code = codeOf(error);
  const cause = withoutWords(error);
  if (isRefusal(error)) return unavailable('it refuses these credentials or what they may do', cause, code);
  if (isTransient(error)) return unavailable(`it did not answer, or could not do it now, ${IN_DOUBT}`, cause, code);
  return unavailable('it refused an operation', cause, code);
}

const IN_DOUBT = 'and a write may or may not have happened';

const unavailable = (words: string, cause: unknown, code: string | null = null): CarillonError =>
  new CarillonError('store_unavailable', code === null ? words : `${words} (${code})`, { retryAfter: 1000 }, { cause });
