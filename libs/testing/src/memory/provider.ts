import type { AccountBody } from '@carillon/domain/configuration';
import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import { messageOf } from '@carillon/kernel';
import type { ChannelSender, RenderedMessage, SendContext, SenderFactory } from '@carillon/ports';
import { WireFault, type Wire } from './wire.ts';

/** A call as the provider saw it, written down before it answered. */
export type Received = {
  readonly message: RenderedMessage;
  readonly deliveryId: string;
  readonly token: string;
  /** Token that a report returns. */
  readonly receiptToken: string;
  readonly account: string;
  /** Whether it took the message, whatever it says. */
  readonly accepted: boolean;
  readonly answer: ProviderResult;
};

export type Decision = Pick<Received, 'accepted' | 'answer'>;
const ACCEPTED: Decision = { accepted: true, answer: providerResult('accepted', '250', 'taken') };

/**
 * A provider with a book of its own: each call is in it, with what was answered, before anybody can lose the answer. It
 * knows nothing of attempts, and takes the same message as often as it comes.
 */
export function createMemoryProvider(
  decide: (message: RenderedMessage, account: string) => Decision = () => ACCEPTED,
  received: (call: Received) => void = () => undefined,
) {
  const calls: Received[] = [];

  function take(
    message: RenderedMessage,
    { deliveryId, attemptToken, receiptToken }: SendContext,
    account: string,
  ): ProviderResult {
    const call = { message, deliveryId, token: attemptToken, receiptToken, account, ...decide(message, account) };
    calls.push(call);
    received(call);
    return call.answer;
  }

  /** The adapter's part: what a lost request or a lost answer means. */
  function connect(wire: Wire, account: string): ChannelSender {
    const open = new Set<Promise<unknown>>();
    let closed = false;

    async function send(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
      if (context.signal.aborted || closed) return providerResult('transient', 'stopped', 'stopped before it began');
      try {
        return await wire.ask('provider.send', () => take(message, context, account), {
          writes: true,
          about: () => `${context.deliveryId.slice(0, 12)} token ${context.attemptToken} over ${account}`,
        });
      } catch (error) {
        if (error instanceof WireFault && !error.reached) return providerResult('transient', '', 'not reached');
        return providerResult('ambiguous', '', messageOf(error));
      }
    }

    return {
      send(message, context) {
        const call = send(message, context).finally(() => open.delete(call));
        open.add(call);
        return call;
      },
      check: () =>
        wire
          .ask('provider.check', () => undefined, { writes: true })
          .then(
            () => [{ step: 'connect', ok: true, detail: 'reached' }],
            () => [{ step: 'connect', ok: false, detail: 'not reached' }],
          ),
      async close() {
        closed = true;
        await Promise.all(open);
      },
    };
  }

  return {
    calls: (): readonly Received[] => calls,
    connect,
    /** Senders of one kind of account, named by their host. */
    factory: (wire: Wire, kind: AccountBody['kind']): SenderFactory => ({
      kind,
      create: (account) => connect(wire, account.kind === 'smtp' ? account.host : account.kind),
    }),
  };
}
export type MemoryProvider = ReturnType<typeof createMemoryProvider>;
