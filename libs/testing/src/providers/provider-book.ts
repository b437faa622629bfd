import type { LedgerEntry, LedgerSend } from '../smtp/ledger.ts';

/**
 * Fate of a message, decided by its address as in the SMTP server with a book (smtp/ledger.ts): always deferred,
 * refused for good, accepted and then cut off, unknown, accepted after a long time. `astray`: a proxy responds once
 * that nothing is here. All others are a `customer`.
 */
export const PROVIDER_FATES = ['customer', 'never', 'refused', 'unanswered', 'gone', 'slow', 'astray'] as const;
export type ProviderFate = (typeof PROVIDER_FATES)[number];

const PREFIX = '+49151';

/** A number that says in its first digit what becomes of messages to it; `number` below ten millions. */
export const phoneOf = (fate: ProviderFate, number: number): string =>
  `${PREFIX}${PROVIDER_FATES.indexOf(fate)}${String(number).padStart(7, '0')}`;

/** A registration token, the same way; to a reader of it its case and its colon matter. */
export const deviceOf = (fate: ProviderFate, number: number): string => `${fate}-${number}:Device_A`;

export const fateOfPhone = (phone: string): ProviderFate =>
  (phone.startsWith(PREFIX) && PROVIDER_FATES[Number(phone[PREFIX.length])]) || 'customer';
export const fateOfDevice = (token: string): ProviderFate =>
  PROVIDER_FATES.find((fate) => token.startsWith(`${fate}-`)) ?? 'customer';

/** Longer than a third of the lease of a call (30 s): it is renewed meanwhile. */
export const LONG_WHILE = 12_000;

export type BookedChannel = 'sms' | 'push';
/** A message that a provider took, as the mail server has its own; `message_id` is not known here. */
export type BookedMessage = LedgerEntry & { readonly channel: BookedChannel };
/** A request as the provider saw it, from its head to the last word. */
export type BookedSend = LedgerSend & { readonly channel: BookedChannel; readonly subject: string };

/** A provider that is called over HTTP and writes down what it takes, whatever the caller believes. */
export type ProviderBook = {
  /** What was taken, before anything was answered. */
  readonly messages: readonly BookedMessage[];
  /** Every request that is over. */
  readonly sends: readonly BookedSend[];
  stop(): Promise<void>;
};

type Request = { readonly subject: string; readonly to: string; readonly at: number; readonly port: number };

/** The two lists of a book, and how they are written. */
export function createBook(channel: BookedChannel) {
  const messages: BookedMessage[] = [];
  const sends: BookedSend[] = [];
  return {
    messages,
    sends,
    take({ subject, to }: Request, dropped: boolean, headers: Readonly<Record<string, string>> = {}): void {
      messages.push({
        channel,
        at: new Date().toISOString(),
        message_id: null,
        to: [to],
        subject,
        headers,
        dropped,
      });
    },
    over({ subject, at, port }: Request, ending: LedgerSend['ending']): void {
      sends.push({ channel, subject, from: at, until: Date.now(), port, ending, message_id: null });
    },
  };
}
