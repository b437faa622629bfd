import type { AccountOf } from '@carillon/domain/configuration';
import { err, ok, type Result } from '@carillon/kernel';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import DKIM from 'nodemailer/lib/dkim';

/**
 * Named, since the library's own list lacks List-Unsubscribe-Post, which has to be signed like List-Unsubscribe
 * (RFC 8058, 4). Of these the fields that a message has are signed.
 */
const SIGNED_FIELDS = [
  'From',
  'Sender',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':');

/** Verifiers ignore shorter keys (RFC 8301, 3.2). */
const LEAST_BITS = 1024;

/** Signs whole messages for one domain. */
export type MailSigner = {
  sign(message: Buffer): Promise<Buffer>;
  /** Where the public key has to stand, and as what. */
  readonly record: { readonly name: string; readonly value: string };
};

/**
 * A signer with this key (PEM). The key is looked at before any message is, since the library lets a message go unsigned
 * where it cannot sign. The error is a sentence that shows nothing of the key.
 */
export function createMailSigner(
  dkim: NonNullable<AccountOf<'smtp'>['dkim']>,
  pem: string | null,
): Result<MailSigner, string> {
  const { domain, selector } = dkim;
  if (pem === null) return err(`The secret ${dkim.key.secret} has no value.`);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    return err(`The secret ${dkim.key.secret} holds no private key (PEM).`);
  }
  if (key.asymmetricKeyType !== 'rsa') return err(`The key in ${dkim.key.secret} is none of RSA.`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS)
    return err(`The key in ${dkim.key.secret} has ${bits} bits; mail servers ask for ${LEAST_BITS}.`);
  // The library takes a read key too, of which these types do not know. PEM is read anew for each mail, which costs more than its signature.
  const privateKey = key as unknown as string;
  const library = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames: SIGNED_FIELDS });
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  return ok({
    async sign(message) {
      const pieces: Buffer[] = [];
      for await (const piece of library.sign(message) as AsyncIterable<Buffer>) pieces.push(piece);
      const signed = Buffer.concat(pieces);
      if (!signed.subarray(0, 16).toString('latin1').startsWith('DKIM-Signature:')) throw new Error('not signed');
      return signed;
    },
    record: { name: `${selector}._domainkey.${domain}`, value: `v=DKIM1; k=rsa; p=${publicKey}` },
  });
}
