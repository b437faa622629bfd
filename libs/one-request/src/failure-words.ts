import { LATE } from './request-end.ts';

const SYSTEM: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'The name of the server leads to no address that Carillon may connect to.'],
  ['EAI_AGAIN', 'The name servers do not answer.'],
  ['ECONNREFUSED', 'Nothing listens at that address and port, or a firewall refuses it.'],
  ['ECONNRESET', 'The server reset the connection.'],
  ['EPIPE', 'The server closed the connection.'],
  ['EHOSTUNREACH', 'No network route leads to that address.'],
  ['ENETUNREACH', 'No route leads to that network.'],
  ['ETIMEDOUT', LATE],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate is signed by itself.'],
  ['CERT_HAS_EXPIRED', 'The certificate has expired.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate belongs to another name.'],
]);

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** In our words: the platform's own may name addresses. */
export function failureWords(error: unknown, otherwise: string): string {
  const code = codeOf(error);
  return SYSTEM.get(code) ?? (/^[A-Z][A-Z0-9_]+$/.test(code) ? `${otherwise} (${code})` : otherwise);
}

/** Certificates and names do not mend themselves. */
export const needsMending = (error: unknown): boolean =>
  /^(ENOTFOUND|ERR_(SSL|TLS)_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO$)/.test(codeOf(error));
