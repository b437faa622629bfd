import { SourceFailure, waiting } from './source-failure.ts';
import type { SourceUrl } from './source-url.ts';

type ServerError = Error & { readonly code?: string; readonly severity?: string };

/** Messages of `pg` for which it has no code. */
const NO_TLS = 'The server does not support SSL connections';
const LATE_CONNECTION = 'timeout expired';
const LATE_ANSWER = 'Query read timeout';
/** Characters of the server's message that are shown. */
const MAX_MESSAGE_LENGTH = 500;
const NO_PASSWORD = /client password must be/;

export const offersNoTls = (error: unknown): boolean => error instanceof Error && error.message === NO_TLS;

const ABOUT_TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate of the server has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the server is for another host.',
};

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'No server listens at the address.',
  ECONNRESET: 'The connection broke.',
  EHOSTUNREACH: 'No network route leads to the address.',
  ENETUNREACH: 'No network route leads to the address.',
  ETIMEDOUT: 'The server did not answer in time.',
};

export const codeOf = (error: unknown): string => {
  const code = error instanceof Error ? (error as ServerError).code : undefined;
  return typeof code === 'string' ? code : '';
};

/** True for an error that the network raised, not the server. */
export const isNetworkError = (error: unknown): boolean =>
  !(error instanceof SourceFailure) && !/^[0-9A-Z]{5}$/.test(codeOf(error));

/** Returns the state that a failed connection or statement leads to. */
export function failureOf(error: unknown, url: SourceUrl): SourceFailure {
  if (error instanceof SourceFailure) return error;
  const code = codeOf(error);
  if (offersNoTls(error))
    return waiting('refused_certificate', 'The server offers no TLS.', 'ALTER SYSTEM SET ssl = on;');
  if (ABOUT_TLS.test(code)) {
    return waiting('refused_certificate', CERTIFICATES[code] ?? `Its check ended with ${code}.`);
  }
  if (NO_PASSWORD.test(messageOf(error))) return waiting('wrong_url', 'The URL has no password.');
  if (messageOf(error) === LATE_CONNECTION || isLateAnswer(error)) return waiting('unreachable', NETWORK['ETIMEDOUT']);
  if (isNetworkError(error)) return waiting('unreachable', NETWORK[code] ?? 'The connection broke.');
  return serverFailure(code, messageOf(error), url);
}

/** True if the server did not answer a statement in time. It may still execute it. */
export const isLateAnswer = (error: unknown): boolean => messageOf(error) === LATE_ANSWER;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

function serverFailure(code: string, message: string, url: SourceUrl): SourceFailure {
  const role = quoteName(url.user);
  switch (code) {
    case '28P01':
      return waiting('refused_login');
    case '28000':
      return /pg_hba\.conf/.test(message)
        ? waiting('refused_login', 'pg_hba.conf has no line that lets this role connect from here.')
        : waiting('refused_login');
    case '3D000':
      return waiting('wrong_url', 'There is no database of the name in the URL.');
    case '08P01':
      // PgBouncer and others name the startup parameter that they do not pass on.
      return /startup parameter/.test(message)
        ? waiting('pooler')
        : waiting('unreachable', 'The server ended the connection with a protocol error.');
    case '42501':
      return waiting('may_not_replicate', null, `ALTER ROLE ${role} REPLICATION;`);
    case '53300':
      return waiting(
        'no_slot_free',
        'The server has no free connection or WAL sender.',
        'ALTER SYSTEM SET max_wal_senders = 20; -- then restart PostgreSQL',
      );
    case '53400':
      return waiting('no_slot_free', null, 'ALTER SYSTEM SET max_replication_slots = 20; -- then restart PostgreSQL');
    default:
      return waiting(
        'unreachable',
        `PostgreSQL refused with ${code}: ${withoutSecrets(message, url).slice(0, MAX_MESSAGE_LENGTH)}`,
      );
  }
}

/** Takes the password out of a text of the server, however it is written there. */
function withoutSecrets(text: string, { password }: SourceUrl): string {
  const forms = [password, encodeURIComponent(password)].filter((form) => form !== '');
  return forms.reduce((rest, form) => rest.replaceAll(form, '…'), text);
}

/** Returns an identifier for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
