import type {
  AddressGuard,
  Clock,
  Inbox,
  LeaseStore,
  OutboundHttp,
  ReceiptReaders,
  SenderFactory,
} from '@carillon/ports';

export type SenderDeps = { readonly clock: Clock; readonly guard: AddressGuard; readonly inbox: Inbox };

export type ReceiptReaderDeps = {
  /** Guarded. Certificates and confirmations of SNS are fetched through it. */
  readonly http: Pick<OutboundHttp, 'request'>;
  readonly clock: Clock;
  /** Shared by all processes, so that a proof that counts once is leased to the first body that came with it. */
  readonly leases: Pick<LeaseStore, 'acquire'>;
};

/** What a provider does over the network. */
export type ProviderAdapter = {
  readonly senders: (deps: SenderDeps) => SenderFactory;
  /** Left out if the provider reports nothing by HTTP. Reads callbacks for accounts of its own kind only. */
  readonly receipts?: (deps: ReceiptReaderDeps) => ReceiptReaders;
};
