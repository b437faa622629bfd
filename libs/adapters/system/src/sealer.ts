import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import { base32 } from './base32.ts';

const VERSION = 'v1';

/** Seals values of secrets for rest. What was sealed for one workspace and name opens for no other. */
export type Sealer = {
  seal(workspace: string, name: string, value: string): string;
  /** Throws CarillonError `wrong_key` for text of another key, workspace or name, or text that was changed. */
  open(workspace: string, name: string, sealed: string): string;
  /** Four characters by which people tell two values apart; of no use for guessing. */
  fingerprint(workspace: string, name: string, value: string): string;
};

/** What the seal is bound to, unambiguous whatever the names hold. */
const boundTo = (workspace: string, name: string): Buffer => Buffer.from(JSON.stringify([workspace, name, VERSION]));

/** AES-256-GCM under the master key with a fresh nonce each time: `v1.<nonce>.<tag>.<text>`. */
export function createSealer(masterKey: Uint8Array): Sealer {
  const key = Uint8Array.from(masterKey);
  return {
    seal(workspace, name, value) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(workspace, name));
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return [VERSION, ...[nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join('.');
    },
    open(workspace, name, sealed) {
      const [version, nonce, tag, text, ...more] = sealed.split('.');
      try {
        if (version !== VERSION || !nonce || !tag || text === undefined || more.length > 0) throw new Error('shape');
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
        decipher.setAAD(boundTo(workspace, name)).setAuthTag(Buffer.from(tag, 'base64url'));
        return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
      } catch {
        throw new CarillonError(
          'wrong_key',
          `the stored secret ${name} of workspace ${workspace} does not open with this master key; start with the key ` +
            'that sealed it, or set the secret again',
        );
      }
    },
    fingerprint: (workspace, name, value) =>
      base32(createHmac('sha256', key).update(boundTo(workspace, name)).update('\0').update(value).digest()).slice(-4),
  };
}
