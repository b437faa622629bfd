import type { ProviderVerdict } from '@carillon/domain/deliveries';
import type { SmtpReply } from './reply.ts';
import type { SmtpStage } from './stage.ts';

/** How an attempt, or the way to it, ended without acceptance. */
export type SmtpFailure = {
  readonly stage: SmtpStage;
  /** The complete reply that ended it. Null: the connection or our patience ended first, and `words` say how. */
  readonly reply: SmtpReply | null;
  /** Our words, free of anything that the server or the message said. */
  readonly words: string;
  /** Set where no reply came and the table has nothing to say. */
  readonly verdict?: ProviderVerdict;
  /** A code of our own, where no server gave one. */
  readonly code?: string;
  /** The connection broke, or fell silent: a kept one may simply have grown old. */
  readonly lost?: boolean;
  /** Somebody has to change a setting. */
  readonly alert?: boolean;
};

export const silence = (stage: SmtpStage, words: string, more: Partial<SmtpFailure> = {}): SmtpFailure => ({
  stage,
  reply: null,
  words,
  ...more,
});

export const stopped = (stage: SmtpStage): SmtpFailure =>
  silence(stage, 'The delivery was stopped before the message was handed over.', {
    code: 'stopped',
    verdict: 'transient',
  });

/** What system errors mean to an operator. */
const SYSTEM: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name of the mail server cannot be found.',
  EAI_AGAIN: 'The name servers do not answer.',
  ECONNREFUSED: 'Nothing listens at that address and port, or a firewall refuses it.',
  ECONNRESET: 'The server reset the connection.',
  EPIPE: 'The server closed the connection.',
  EHOSTUNREACH: 'No network route leads to that address.',
  ENETUNREACH: 'No route leads to that network.',
  ETIMEDOUT: 'The server did not answer in time.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by itself, not by an authority that this machine trusts.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate comes from an authority that this machine does not trust.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate comes from an authority that this machine does not trust.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate comes from an authority that this machine does not trust.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate belongs to another name.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not speak TLS from the first byte on this port: try starttls.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The server does not speak TLS from the first byte on this port: try starttls.',
};

const systemCode = (error: unknown): string => {
  if (!(error instanceof Error)) return '';
  const { originalCode, code } = error as Error & { originalCode?: unknown; code?: unknown };
  return typeof originalCode === 'string' ? originalCode : typeof code === 'string' ? code : '';
};

/** An error of the platform in words; its own message may name addresses, so only its code is shown. */
export function inWords(error: unknown, otherwise: string): string {
  const code = systemCode(error);
  const known = SYSTEM[code];
  if (known !== undefined) return known;
  return /^[A-Z][A-Z0-9_]+$/.test(code) ? `${otherwise} (${code})` : otherwise;
}

/** Certificates and names do not mend themselves. */
export const isConfigurationError = (error: unknown): boolean =>
  /^(ENOTFOUND|ERR_(SSL|TLS)_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(systemCode(error));
export const isTlsError = (error: unknown): boolean =>
  /^(ERR_(SSL|TLS)_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO$)/.test(systemCode(error));
