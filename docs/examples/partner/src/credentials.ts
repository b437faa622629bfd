import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Whether an `Authorization` header carries our key: as `Bearer <key>`, as `Basic <key>` word for word, or as `Basic` with
 * the key in base64. Takes as long for a wrong key as for the right one.
 */
export function carriesKey(header: string | undefined, key: string): boolean {
  const [, scheme = '', credential = ''] = /^(bearer|basic) +(\S+)$/i.exec(header ?? '') ?? [];
  const wanted = digest(key);
  const plain = timingSafeEqual(digest(credential), wanted);
  const encoded = timingSafeEqual(digest(Buffer.from(credential, 'base64').toString('utf8')), wanted);
  return plain || (scheme.toLowerCase() === 'basic' && encoded);
}
