import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { waiting } from './source-failure.ts';
import type { SourceUrl, SslMode } from './source-url.ts';

/** `preferred`: in the clear if the server offers no TLS. */
export type TlsWish =
  | { readonly use: 'never' }
  | { readonly use: 'preferred' | 'always'; readonly options: ConnectionOptions };

/**
 * Decides about TLS. At a public address the certificate is always checked. At a private address the URL decides, as for
 * other programs; with an authority of the user's own, the certificate is checked unless the URL disables TLS.
 */
export function chooseTls(url: SourceUrl, ca: string | null, isPrivate: boolean): TlsWish {
  if (!isPrivate && url.sslMode === 'disable') {
    throw waiting('wrong_url', '`sslmode=disable` is for private addresses only. Remove it from the URL.');
  }
  const mode = modeOf(url, ca, isPrivate);
  if (mode === 'disable') return { use: 'never' };
  const verifies = mode.startsWith('verify');
  const options: ConnectionOptions = {
    // If the host is an address, `pg` compares the certificate with the address.
    ...(isIP(url.host) === 0 && { servername: url.host }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: verifies,
    ...(ca !== null && { ca: [ca] }),
    // The certificate may be for another name.
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  return { use: mode === 'allow' || mode === 'prefer' ? 'preferred' : 'always', options };
}

function modeOf({ sslMode }: SourceUrl, ca: string | null, isPrivate: boolean): SslMode {
  if (!isPrivate) return 'verify-full';
  if (ca === null) return sslMode ?? 'prefer';
  return sslMode === 'disable' || sslMode === 'verify-ca' ? sslMode : 'verify-full';
}
