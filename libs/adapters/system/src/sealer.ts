import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { base32 } from './base32.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

/** `<version>.<nonce>.<tag>.<text>`, each part base64url; a fresh nonce each time. */
function encrypt(key: KeyObject, version: string, boundTo: readonly unknown[], clear: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingOf(version, boundTo));
  const text = Buffer.concat([cipher.update(clear), cipher.final()]);
  return [version, ...[nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join('.');
}

/** Null for text of another key or binding, and for text that was changed. */
function decrypt(key: KeyObject, version: string, boundTo: readonly unknown[], sealed: string): Buffer | null {
  const [found, nonce, tag, text, ...more] = sealed.split('.');
  if (found !== version || !nonce || !tag || text === undefined || more.length > 0) return null;
  try {
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'), { authTagLength: TAG_BYTES });
    decipher.setAAD(bindingOf(version, boundTo)).setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]);
  } catch {
    return null;
  }
}

/** Returns the data that an encrypted value is bound to, unambiguous whatever the names contain. */
const bindingOf = (version: string, parts: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify([`carillon ${version}`, ...parts]));

/** A key that wraps data keys. */
export type MasterKey = {
  /** Fingerprint: tells two keys apart, and nothing of either. */
  readonly id: string;
  readonly key: KeyObject;
};

export const masterKeyOf = (bytes: Uint8Array): MasterKey => ({
  id: base32(createHash('sha256').update('carillon master key\0').update(bytes).digest()),
  key: createSecretKey(bytes),
});

/** Identity of a data key. It can only be decrypted for its own workspace. */
type KeyName = { readonly id: string; readonly workspace: string };

export const freshDataKey = (): KeyObject => createSecretKey(randomBytes(KEY_BYTES));

/** Data key under a master key: AES-256-GCM, bound to workspace and id. */
export const wrapKey = (master: MasterKey, { id, workspace }: KeyName, dataKey: KeyObject): string =>
  encrypt(master.key, 'w1', [workspace, id], dataKey.export());

/** Null where this master key did not wrap it, or it was changed. */
export function unwrapKey(master: MasterKey, { id, workspace }: KeyName, wrapped: string): KeyObject | null {
  const clear = decrypt(master.key, 'w1', [workspace, id], wrapped);
  return clear?.length === KEY_BYTES ? createSecretKey(clear) : null;
}

/** Which value of which secret: sealed for one, it opens for no other, and an older one never for a newer. */
export type ValueName = { readonly workspace: string; readonly name: string; readonly version: number };

/** Value under a data key: AES-256-GCM, bound to workspace, name and version. */
export const sealValue = (dataKey: KeyObject, { workspace, name, version }: ValueName, value: string): string =>
  encrypt(dataKey, 'v2', [workspace, name, version], Buffer.from(value, 'utf8'));

/** Null for text of another key, workspace, name or version, or text that was changed. */
export const openValue = (dataKey: KeyObject, { workspace, name, version }: ValueName, sealed: string): string | null =>
  decrypt(dataKey, 'v2', [workspace, name, version], sealed)?.toString('utf8') ?? null;

/**
 * Four characters by which people tell two values apart; 20 bits, of no use for guessing. Their key comes from the ledger
 * key, which never changes: a value keeps its fingerprint when master and data keys are exchanged.
 */
export function createFingerprints(ledgerKey: Uint8Array): (workspace: string, name: string, value: string) => string {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', ledgerKey, '', 'carillon secret fingerprint', KEY_BYTES)));
  return (workspace, name, value) =>
    base32(
      createHmac('sha256', key)
        .update(JSON.stringify([workspace, name, value]))
        .digest(),
    ).slice(-4);
}

export type TextSealer = {
  seal(boundTo: readonly string[], text: string): string;
  /** Null for text of another key, purpose or binding, or text that was changed. */
  open(boundTo: readonly string[], sealed: string): string | null;
};

/** Seals texts of one purpose under a key derived from one that never changes, such as the pepper: what is no secret of a workspace. */
export function createTextSealer(root: Uint8Array, purpose: string): TextSealer {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', root, '', `carillon text ${purpose}`, KEY_BYTES)));
  return {
    seal: (boundTo, text) => encrypt(key, 't1', [purpose, ...boundTo], Buffer.from(text, 'utf8')),
    open: (boundTo, sealed) => decrypt(key, 't1', [purpose, ...boundTo], sealed)?.toString('utf8') ?? null,
  };
}
