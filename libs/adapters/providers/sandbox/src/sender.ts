import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import type { ChannelSender, Clock, Inbox, RenderedMessage, SendContext, SenderFactory } from '@carillon/ports';

export type SandboxSenderDeps = { readonly inbox: Inbox; readonly clock: Clock };

const STOPPED = 'The delivery was stopped before the message was stored.';

/**
 * Stores messages for the portal instead of sending them, so that the product works without a provider. Messages are
 * keyed by the attempt's token, so an attempt is stored once.
 */
class SandboxSender implements ChannelSender {
  readonly #inbox: Inbox;
  readonly #clock: Clock;
  readonly #calls = new Set<Promise<void>>();
  #closed = false;

  constructor({ inbox, clock }: SandboxSenderDeps) {
    this.#inbox = inbox;
    this.#clock = clock;
  }

  async send(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    if (context.signal.aborted || this.#closed) return providerResult('transient', 'stopped', STOPPED);
    const put = this.#inbox.put({
      id: context.attemptToken,
      workspace: context.workspace,
      deliveryId: context.deliveryId,
      message,
      at: this.#clock.now(),
    });
    const call = put.finally(() => this.#calls.delete(call));
    this.#calls.add(call);
    try {
      await call;
    } catch {
      // The store may have kept it and failed to say so. Nobody receives sandbox mail twice, but promises are promises.
      return providerResult('ambiguous', '', 'The sandbox could not say whether the message was stored.');
    }
    return providerResult('accepted', '', 'Stored in the sandbox inbox.', { providerId: context.attemptToken });
  }

  async check(): ReturnType<ChannelSender['check']> {
    try {
      await this.#inbox.list({}, 1);
      return [{ step: 'inbox', ok: true, detail: 'the sandbox inbox can be read; nothing leaves this machine' }];
    } catch {
      return [{ step: 'inbox', ok: false, detail: 'the sandbox inbox cannot be read' }];
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#calls);
  }
}

/** Senders of the sandbox account: the default until a real provider is set. They share one inbox. */
export const createSandboxSenderFactory = (deps: SandboxSenderDeps): SenderFactory => ({
  kind: 'sandbox',
  create: () => new SandboxSender(deps),
});
