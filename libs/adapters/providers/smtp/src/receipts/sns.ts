import { ok, type CarillonError, type Result } from '@carillon/kernel';
import { createVerify, X509Certificate } from 'node:crypto';
import { readCallback, textAt, timeAt, unreadable } from '../../../callbacks/fields.ts';
import { isRecent } from '../../../callbacks/callback.ts';

/** The only hosts from which a certificate is fetched, and at which a subscription is confirmed (docs/internals/evidence.md). */
const SNS_HOST = /^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/;

/**
 * Path of SNS certificates, so that no other file on these hosts, such as a message of a foreign topic, is used as one.
 */
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem$/;

export type SnsKind = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';

/** A message of Amazon's Simple Notification Service. Nothing in it is proved before `verifySns`. */
export type SnsMessage = {
  readonly kind: SnsKind;
  readonly id: string;
  readonly topic: string;
  /** What the publisher wrote: of SES, JSON. */
  readonly text: string;
  readonly signedText: string;
  readonly algorithm: 'sha1' | 'sha256';
  readonly signature: string;
  readonly certificateUrl: string;
  /** Asking for it confirms the subscription; only of a SubscriptionConfirmation. */
  readonly subscribeUrl: string | null;
  readonly sentAt: number | null;
};

/** https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html names these fields, in this order. */
const SIGNED: Readonly<Record<SnsKind, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

/** Reads what SNS posts: JSON, sent as `text/plain`. Refuses what was signed by, or subscribes at, any other host. */
export function readSns(body: Uint8Array): Result<SnsMessage, CarillonError> {
  const json = readCallback(body);
  if (!json.ok) return json;
  const field = (name: string): string => textAt(json.value, name);
  const kind = field('Type');
  if (!Object.hasOwn(SIGNED, kind))
    return unreadable('SNS sends a message with the Type Notification or a confirmation.');
  const version = field('SignatureVersion');
  if (version !== '1' && version !== '2') return unreadable('The SignatureVersion of SNS is 1 or 2.');
  const certificateUrl = field('SigningCertURL');
  if (!isSnsCertificateUrl(certificateUrl)) return unreadable('The SigningCertURL is not an address of SNS.');
  const subscribeUrl = kind === 'SubscriptionConfirmation' ? field('SubscribeURL') : null;
  if (subscribeUrl !== null && !isSnsUrl(subscribeUrl)) return unreadable('The SubscribeURL is not an address of SNS.');
  const names = SIGNED[kind as SnsKind].filter((name) => name !== 'Subject' || field(name) !== '');
  return ok({
    kind: kind as SnsKind,
    id: field('MessageId'),
    topic: field('TopicArn'),
    text: field('Message'),
    signedText: names.map((name) => `${name}\n${field(name)}\n`).join(''),
    algorithm: version === '1' ? 'sha1' : 'sha256',
    signature: field('Signature'),
    certificateUrl,
    subscribeUrl,
    sentAt: timeAt(json.value, 'Timestamp'),
  });
}

/** An `https` address on a host of SNS, without port and user. */
export function isSnsUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' && url.port === '' && url.username === '' && SNS_HOST.test(url.hostname);
}

/** Where a certificate of SNS may be: its own name there, without query or fragment. */
export const isSnsCertificateUrl = (text: string): boolean =>
  isSnsUrl(text) && CERTIFICATE_PATH.test(text.slice(text.indexOf('/', 'https://'.length)));

/**
 * Whether SNS signed this message for this topic, not longer than a day ago. `certificate` is the PEM at its
 * `certificateUrl`, whose host the reader has checked. A certificate that is none, or that is out of date, proves nothing.
 */
export function verifySns(message: SnsMessage, topic: string, certificate: string, now: number): boolean {
  if (message.topic !== topic || !isRecent(message.sentAt, now)) return false;
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(certificate);
    if (now < Date.parse(validFrom) || now > Date.parse(validTo)) return false;
    const verifier = createVerify(message.algorithm).update(message.signedText, 'utf8');
    return verifier.verify(publicKey, message.signature, 'base64');
  } catch {
    return false;
  }
}
