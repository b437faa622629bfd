import { providerResult, type ProviderResult } from '@carillon/domain';
import type { AddressGuard, ChannelSender, Clock, RenderedMessage, SendContext, SenderFactory } from '@carillon/ports';
import { createFcmApi, type FcmApi, type FcmApiOptions } from './api.ts';
import { readServiceAccount } from './credentials.ts';

export type FcmSenderDeps = {
  readonly clock: Clock;
  /** Says where accounts of workspaces may be reached, and where any key file may send us for access tokens. */
  readonly guard: AddressGuard;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted?: readonly string[];
  /** Shorter ones make tests quick. */
  readonly timeouts?: FcmApiOptions['timeouts'];
};

const STOPPED = 'The delivery was stopped before the message was handed over.';
const PUSH_ALONE = 'An account of Firebase carries push messages alone.';

/** Sends over one project of Firebase. One call is one POST, never repeated. */
class FcmSender implements ChannelSender {
  readonly #api: FcmApi;
  readonly #clock: Clock;
  readonly #calls = new Set<Promise<unknown>>();
  #closed = false;

  constructor(api: FcmApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  send(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    const call = this.#attempt(message, context).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
    return call;
  }

  async #attempt(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    if (message.channel !== 'push') return providerResult('refused_account', '', PUSH_ALONE, { alert: true });
    if (this.#closed || context.signal.aborted) return providerResult('transient', 'stopped', STOPPED);
    const now = this.#clock.now();
    const { to: token, ...content } = message;
    return this.#api.send({ token, content, timeToLive: context.notAfter - now, now }, context.signal);
  }

  async check(): ReturnType<ChannelSender['check']> {
    const { ok, detail } = await this.#api.check(new AbortController().signal);
    return [{ step: 'validate only', ok, detail }];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#calls);
    await this.#api.close();
  }
}

/** Stands in for an account whose key file is missing or none: what is to go over it waits, and says why. */
const unusableSender = (detail: string): ChannelSender => ({
  send: async () => providerResult('refused_account', '', detail, { alert: true }),
  check: async () => [{ step: 'credentials', ok: false, detail }],
  close: async () => undefined,
});

/** Makes senders for accounts of Firebase. `secrets` holds the key file under the name that the account refers to. */
export const createFcmSenderFactory = (deps: FcmSenderDeps): SenderFactory => ({
  kind: 'fcm',
  create(account, secrets, workspace) {
    if (account.kind !== 'fcm') throw new TypeError(`an account of kind ${account.kind} is none of Firebase`);
    const { secret } = account.credentials;
    const file = secrets[secret];
    if (file === undefined) return unusableSender(`The secret ${secret} has no value.`);
    const read = readServiceAccount(file);
    if (!read.ok) return unusableSender(read.error);
    const api = createFcmApi(read.value, {
      guard: workspace === '' ? null : deps.guard,
      tokenGuard: deps.guard,
      trusted: deps.trusted ?? [],
      now: () => deps.clock.now(),
      ...(account.url !== undefined && { url: account.url }),
      ...(deps.timeouts && { timeouts: deps.timeouts }),
    });
    return new FcmSender(api, deps.clock);
  },
});
