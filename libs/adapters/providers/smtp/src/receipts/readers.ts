import type { Duration, Instant } from '@carillon/kernel';
import type { ReceiptCallback, ReceiptReaders, ReceiptReading } from '@carillon/ports';
import { createHash } from 'node:crypto';
import type { ReceiptReaderDeps } from '../../../provider-adapter.ts';
import { OLDEST_SIGNATURE } from '../../../callbacks/callback.ts';
import { mailgunNonce, readMailgun } from './mailgun.ts';
import { isFromPostmark, readPostmark } from './postmark.ts';
import { isFromSendGrid, readSendGrid } from './sendgrid.ts';
import { readSes } from './ses.ts';
import { readSns, verifySns, type SnsMessage } from './sns.ts';

const UNPROVED: ReceiptReading = { kind: 'unproved' };
const CONNECT: Duration = 5_000;
const TOTAL: Duration = 10_000;
const MAX_CERTIFICATE_BYTES = 64 * 1024;
/** Certificates of SNS are replaced about once a year. */
const CERTIFICATE_KEPT: Duration = 24 * 3_600_000;
const MAX_CERTIFICATES = 100;
/** How far our clock and Mailgun's are apart, at most. */
const CLOCKS_APART: Duration = 5 * 60_000;

const digestOf = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('base64');

/** Reads what the service behind a mail server reports: the one that `receipts` of the account names. */
export function createMailReceiptReader({ http, clock, leases }: ReceiptReaderDeps): ReceiptReaders {
  const certificates = new Map<string, { readonly pem: Promise<string | null>; readonly until: Instant }>();

  async function fetchText(url: string): Promise<string | null> {
    const answer = await http.request({
      method: 'GET',
      url,
      headers: {},
      body: null,
      maxBytes: MAX_CERTIFICATE_BYTES,
      connectTimeout: CONNECT,
      totalTimeout: TOTAL,
    });
    return answer.ok && answer.value.status === 200 ? Buffer.from(answer.value.body).toString('utf8') : null;
  }

  async function certificateAt(url: string): Promise<string | null> {
    const known = certificates.get(url);
    if (known && clock.now() < known.until) return known.pem;
    if (certificates.size >= MAX_CERTIFICATES) certificates.clear();
    const pem = fetchText(url);
    certificates.set(url, { pem, until: clock.now() + CERTIFICATE_KEPT });
    const found = await pem;
    // What could not be fetched is asked for again by the next request.
    if (found === null) certificates.delete(url);
    return found;
  }

  async function readFromSns({ body }: ReceiptCallback, topic: string): Promise<ReceiptReading> {
    const message = readSns(body);
    // Messages of another topic are refused before their certificate is fetched. Otherwise anyone with an SNS topic
    // could make this server send requests.
    if (!message.ok || message.value.topic !== topic) return UNPROVED;
    const certificate = await certificateAt(message.value.certificateUrl);
    if (certificate === null) return { kind: 'unavailable', detail: 'The certificate of SNS cannot be fetched now.' };
    if (!verifySns(message.value, topic, certificate, clock.now())) return UNPROVED;
    return readVerified(message.value);
  }

  async function readVerified(message: SnsMessage): Promise<ReceiptReading> {
    if (message.kind === 'Notification') return { kind: 'proved', reports: readSes(message) };
    // Ending a subscription is somebody's wish at Amazon; it is not subscribed to again behind his back.
    if (message.subscribeUrl !== null && (await fetchText(message.subscribeUrl)) === null) {
      return { kind: 'unavailable', detail: 'The subscription cannot be confirmed now.' };
    }
    return { kind: 'proved', reports: { ok: true, value: [] } };
  }

  /**
   * Whether this body is the first that this proof of Mailgun came with. The same one again is Mailgun's own repeat; another one somebody
   * put there. Accounts may share a key, and each gets a message of its own. Remembered for as long as a proof may be old.
   */
  function isFirstWith(account: string, nonce: string, body: Uint8Array, now: Instant): Promise<boolean> {
    const name = `mailgun:${digestOf(JSON.stringify([account, nonce]))}`;
    return leases.acquire(name, digestOf(body), now, now + OLDEST_SIGNATURE + CLOCKS_APART);
  }

  return {
    async read(callback, sender, secret) {
      if (sender.kind !== 'smtp' || sender.receipts === undefined) return UNPROVED;
      const { receipts: service } = sender;
      const { account, body } = callback;
      const now = clock.now();
      switch (service.kind) {
        case 'ses':
          return readFromSns(callback, service.topic);
        case 'sendgrid':
          return isFromSendGrid(callback, service.public_key, now)
            ? { kind: 'proved', reports: readSendGrid(body) }
            : UNPROVED;
        case 'mailgun': {
          const nonce = secret === null ? null : mailgunNonce(body, secret, now);
          return nonce !== null && (await isFirstWith(account, nonce, body, now))
            ? { kind: 'proved', reports: readMailgun(body) }
            : UNPROVED;
        }
        case 'postmark':
          return secret !== null && isFromPostmark(callback, secret)
            ? { kind: 'proved', reports: readPostmark(body) }
            : UNPROVED;
      }
    },
  };
}
