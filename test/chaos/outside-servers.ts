import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLedgerSmtp, type LedgerSmtp } from '@carillon/testing';
import { startBookedPartner, type BookedPartner, type Whims } from './partner.ts';
import { startProviders, type Providers } from './providers.ts';
import type { Reporter } from './reporter.ts';
import type { Neighbours } from './shop.ts';

export type OutsideOptions = {
  readonly seed: number;
  /** Delays and failures of the mail server. Defaults to none. */
  readonly smtp?: { readonly latency: number; readonly tempfail?: number; readonly drop?: number };
  readonly partner?: Whims;
};

/** The servers that the product calls. Each keeps a book, and no kill of the product reaches them. */
export type OutsideServers = {
  /** A temporary folder for the books, the configuration and the data of the product. */
  readonly folder: string;
  readonly smtp: LedgerSmtp;
  readonly partner: BookedPartner;
  readonly providers: Providers;
  /** Their addresses, for the configuration of the shop. */
  readonly neighbours: Neighbours;
  /** Sets what is called for each SMS that Twilio takes. Twilio's answer waits for the promise. */
  handleSms(handler: Reporter['onSms']): void;
  /** Stops the servers and removes the folder. */
  stop(): Promise<void>;
};

export async function startOutsideServers({
  seed,
  smtp: whims,
  partner: own,
}: OutsideOptions): Promise<OutsideServers> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-chaos-'));
  let handle: Reporter['onSms'] = () => Promise.resolve();
  const smtp = await startLedgerSmtp({ file: join(folder, 'mail.jsonl'), seed: String(seed), ...whims });
  const partner = await startBookedPartner(seed, own);
  const providers = await startProviders(folder, (message) => handle(message));
  return {
    folder,
    smtp,
    partner,
    providers,
    neighbours: { smtpPort: smtp.port, partnerUrl: partner.url, providers: providers.places },
    handleSms(handler) {
      handle = handler;
    },
    async stop() {
      await Promise.all([providers.stop(), partner.stop(), smtp.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the servers for one run and stops them when the run has ended. */
export async function withOutsideServers<Result>(
  options: OutsideOptions,
  run: (servers: OutsideServers) => Promise<Result>,
): Promise<Result> {
  const servers = await startOutsideServers(options);
  try {
    return await run(servers);
  } finally {
    await servers.stop();
  }
}
