import { ServiceProcess } from '@carillon/testing/services';

/** What is signed as Twilio signs: each status is of a message of its own. */
export type TwilioCallbacks = {
  /** What the product is called from outside; the signature is over this address. */
  readonly publicUrl: string;
  readonly authToken: string;
};

/** What takes events over HTTP: a peer, or the product. Each 202 names the id of its event as `{"id": …}`. */
export type HttpTarget = {
  /** Where events are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Process id by name. */
  readonly processes: Readonly<Record<string, number>>;
  /** How often each id stands on its log. Null where it stores nothing, so that there is nothing to compare. */
  readonly stored: (() => Promise<ReadonlyMap<string, number>>) | null;
  /** Under which id it stores what was acknowledged, where that is another one. */
  readonly storedAs?: (acknowledged: string) => string;
  /** Set where statuses of Twilio are posted in place of events; each 204 is one. */
  readonly twilio?: TwilioCallbacks;
  stop(): Promise<void>;
};

export type PeerProgram = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly port: number;
  /** Where what it writes goes. */
  readonly log: string;
  readonly stored: HttpTarget['stored'];
};

/** Starts a program that takes events at `/events` of its port, and waits until it answers at all. */
export async function startHttpPeer({ name, command, args, port, log, stored }: PeerProgram): Promise<HttpTarget> {
  const url = `http://127.0.0.1:${port}/events`;
  const running = new ServiceProcess({
    name,
    launch: { command, args, log },
    isReady: async () => (await fetch(url, { signal: AbortSignal.timeout(2000) })).status > 0,
  });
  await running.start();
  return { url, headers: {}, processes: { [name]: running.pid }, stored, stop: () => running.stop() };
}
