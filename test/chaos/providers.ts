import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery } from '@carillon/domain/deliveries';
import type { LedgerEntry, LedgerSend, LedgerSmtp } from '@carillon/testing';
import { startFcmBook, startTwilioBook, type FcmBook, type TwilioBook } from '@carillon/testing/providers';
import type { Evidence } from '../harness/evidence.ts';

/** Proves what Twilio reports. */
export const TWILIO_TOKEN = 'the-auth-token-of-twilio';
/** Where reports of the outside come to; a proxy that is not there stands for the gateway. */
export const PUBLIC_URL = 'https://notify.example.com';

/** What the configuration of the shop has to know of those who carry SMS and push messages. */
export type ProviderPlaces = { readonly twilioUrl: string; readonly twilioAccount: string; readonly fcmUrl: string };

/** Where nobody is: nothing is sent there. */
export const NO_PROVIDERS: ProviderPlaces = {
  twilioUrl: 'http://127.0.0.1:9',
  twilioAccount: `AC${'0'.repeat(32)}`,
  fcmUrl: 'https://localhost:9',
};

export type Providers = {
  readonly places: ProviderPlaces;
  /** What the product has to find in its environment: their secrets, and whose certificate counts. */
  readonly env: Readonly<Record<string, string>>;
  readonly twilio: TwilioBook;
  readonly fcm: FcmBook;
  stop(): Promise<void>;
};

/** Twilio and FCM on this machine, each with a book. They live in this process, so no kill of the product takes them along. */
export async function startProviders(
  folder: string,
  onSms: Parameters<typeof startTwilioBook>[0] = () => undefined,
): Promise<Providers> {
  const [twilio, fcm] = await Promise.all([startTwilioBook(onSms), startFcmBook()]);
  const certificate = join(folder, 'fcm.pem');
  await writeFile(certificate, fcm.trusted.join(''));
  return {
    places: { twilioUrl: twilio.url, twilioAccount: twilio.accountSid, fcmUrl: fcm.url },
    env: { TWILIO_TOKEN, FCM_KEY_FILE: fcm.keyFile, NODE_EXTRA_CA_CERTS: certificate },
    twilio,
    fcm,
    async stop() {
      await Promise.all([twilio.stop(), fcm.stop()]);
    },
  };
}

type Books = { readonly mail: readonly LedgerEntry[]; readonly sends: readonly LedgerSend[] };

/** The three books as one. Mails name their delivery; the others are told by what they are about, which is its unique id. */
export async function readBooks(
  smtp: Pick<LedgerSmtp, 'entries' | 'sends'>,
  { twilio, fcm }: Pick<Providers, 'twilio' | 'fcm'>,
  { deliveries }: Evidence,
): Promise<Books> {
  const about = new Map(deliveries.map(({ id, slot }: Delivery) => [`${slot.channel} ${slot.uniqueId}`, id]));
  const named = <Entry extends { readonly channel: string; readonly subject: string }>(entry: Entry) => {
    const id = about.get(`${entry.channel} ${entry.subject}`);
    return { ...entry, message_id: id === undefined ? null : `<${id}.${entry.channel}@book>` };
  };
  return {
    mail: [...(await smtp.entries()), ...[...twilio.messages, ...fcm.messages].map(named)],
    sends: [...(await smtp.sends()), ...[...twilio.sends, ...fcm.sends].map(named)],
  };
}
