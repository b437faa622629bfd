import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, OutboundHttp, ReceiptCallback, ReceiptReaders, ReceiptReading } from '@carillon/ports';
import { createHash } from 'node:crypto';
import { OLDEST_SIGNATURE } from './callback.ts';
import { mailgunNonce, readMailgun } from './mailgun.ts';
import { isFromPostmark, readPostmark } from './postmark.ts';
import { isFromSendGrid, readSendGrid } from './sendgrid.ts';
import { readSes } from './ses.ts';
import { readSns, verifySns, type SnsMessage } from './sns.ts';
import { isFromTwilio, readTwilio } from './twilio.ts';

const UNPROVED: ReceiptReading = { kind: 'unproved' };
const CONNECT: Duration = 5_000;
const TOTAL: Duration = 10_000;
const MAX_CERTIFICATE_BYTES = 64 * 1024;
/** Certificates of SNS are replaced about once a year. */
const CERTIFICATE_KEPT: Duration = 24 * 3_600_000;
const MAX_CERTIFICATES = 100;
const MAX_NONCES = 100_000;

/** Readers of all providers. `http` is guarded: certificates and confirmations go to hosts of SNS alone, and through it. */
export function createReceiptReaders({
  http,
  clock,
}: {
  readonly http: Pick<OutboundHttp, 'request'>;
  readonly clock: Clock;
}): ReceiptReaders {
  const certificates = new Map<string, { readonly pem: Promise<string | null>; readonly until: Instant }>();
  const nonces = createNonces();

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
    // Of another topic nothing is asked for: whoever has a topic of his own could make us fetch.
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

  return {
    async read(callback, sender, secret) {
      const { account, body } = callback;
      const now = clock.now();
      switch (sender.kind) {
        case 'twilio':
          return secret !== null && isFromTwilio(callback, secret) ? readTwilio(callback) : UNPROVED;
        case 'ses':
          return readFromSns(callback, sender.topic);
        case 'sendgrid':
          return isFromSendGrid(callback, sender.public_key, now)
            ? { kind: 'proved', reports: readSendGrid(body) }
            : UNPROVED;
        case 'mailgun': {
          const nonce = secret === null ? null : mailgunNonce(body, secret, now);
          return nonce !== null && nonces.isFirst(`${account} ${nonce}`, body, now)
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

/**
 * Proofs of Mailgun that were seen, with what stood behind them. One that comes again with the same body is Mailgun's own
 * repeat; with another body somebody put it there. Accounts may share a key, and each gets its own. Kept for as long as a proof may be old, in this process.
 */
function createNonces() {
  const seen = new Map<string, { readonly body: string; readonly until: Instant }>();
  return {
    isFirst(nonce: string, body: Uint8Array, now: Instant): boolean {
      const digest = createHash('sha256').update(body).digest('base64');
      const known = seen.get(nonce);
      if (known && now < known.until) return known.body === digest;
      for (const [oldest, { until }] of seen) {
        if (now < until && seen.size < MAX_NONCES) break;
        seen.delete(oldest);
      }
      seen.set(nonce, { body: digest, until: now + OLDEST_SIGNATURE + 5 * 60_000 });
      return true;
    },
  };
}
