import type { AccountBody } from '@carillon/domain/configuration';
import type { ReceiptReaders, SenderFactory } from '@carillon/ports';
import { createFcmSenderFactory } from './fcm/src/index.ts';
import type { ProviderAdapter, ReceiptReaderDeps, SenderDeps } from './provider-adapter.ts';
import { createSandboxSenderFactory } from './sandbox/src/index.ts';
import { createMailReceiptReader, createSmtpSenderFactory } from './smtp/src/index.ts';
import { createTwilioReceiptReader, createTwilioSenderFactory } from './twilio/src/index.ts';
import { createVonageReceiptReader, createVonageSenderFactory } from './vonage/src/index.ts';

/** One adapter per kind of provider account. `libs/shapes/src/providers` has the rest of each kind. */
const ADAPTERS: Readonly<Record<AccountBody['kind'], ProviderAdapter>> = {
  smtp: { senders: createSmtpSenderFactory, receipts: createMailReceiptReader },
  twilio: { senders: createTwilioSenderFactory, receipts: createTwilioReceiptReader },
  vonage: { senders: createVonageSenderFactory, receipts: createVonageReceiptReader },
  fcm: { senders: createFcmSenderFactory },
  sandbox: { senders: createSandboxSenderFactory },
};

/** Returns one factory of senders per kind. */
export const createSenderFactories = (deps: SenderDeps): readonly SenderFactory[] =>
  Object.values(ADAPTERS).map(({ senders }) => senders(deps));

/** Returns a reader that passes each callback to the reader of the account's kind. */
export function createReceiptReaders(deps: ReceiptReaderDeps): ReceiptReaders {
  const readers = new Map(Object.entries(ADAPTERS).map(([kind, { receipts }]) => [kind, receipts?.(deps)]));
  return {
    read: async (callback, account, secret) =>
      (await readers.get(account.kind)?.read(callback, account, secret)) ?? { kind: 'unproved' },
  };
}
