import { providerResult, STOPPED, type ProviderResult } from '@carillon/domain/deliveries';
import type { ChannelSender, RenderedMessage, SendContext } from '@carillon/ports';

const NOT_BEGUN = 'The delivery was stopped before the message was handed over.';

type OnChannel<Channel extends RenderedMessage['channel']> = Extract<RenderedMessage, { readonly channel: Channel }>;

export type ProviderSenderParts<Channel extends RenderedMessage['channel']> = {
  readonly channel: Channel;
  /** Said of a message of another channel: what the account carries. */
  readonly carries: string;
  /** Sends one message of the channel in one request, never repeated. */
  readonly attempt: (message: OnChannel<Channel>, context: SendContext) => Promise<ProviderResult>;
  readonly check: ChannelSender['check'];
  /** Asks the provider what it has. Left out where it cannot be asked. */
  readonly find?: (
    message: OnChannel<Channel>,
    ...rest: Parameters<NonNullable<ChannelSender['find']>> extends [unknown, ...infer Rest] ? Rest : never
  ) => ReturnType<NonNullable<ChannelSender['find']>>;
  /** Called once its calls have ended. */
  readonly close: () => Promise<void> | void;
};

/** A sender over one account of a provider that is called over HTTP: it knows its calls, and closes when they have ended. */
export function createProviderSender<Channel extends RenderedMessage['channel']>(
  parts: ProviderSenderParts<Channel>,
): ChannelSender {
  const calls = new Set<Promise<unknown>>();
  let closed = false;
  const isOurs = (message: RenderedMessage): message is OnChannel<Channel> => message.channel === parts.channel;

  async function attempt(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    if (!isOurs(message)) return providerResult('refused_account', '', parts.carries, { alert: true });
    if (closed || context.signal.aborted) return providerResult('transient', STOPPED, NOT_BEGUN);
    return parts.attempt(message, context);
  }

  const { find } = parts;
  return {
    send(message, context) {
      const call = attempt(message, context).finally(() => calls.delete(call));
      calls.add(call);
      return call;
    },
    check: parts.check,
    ...(find && {
      find: async (message, ...rest) => (closed || !isOurs(message) ? null : find(message, ...rest)),
    }),
    async close() {
      closed = true;
      await Promise.allSettled(calls);
      await parts.close();
    },
  };
}

/** Stands in for an account whose secrets are missing or none: what is to go over it waits, and says why. */
export const unusableSender = (step: string, detail: string): ChannelSender => ({
  send: async () => providerResult('refused_account', '', detail, { alert: true }),
  check: async () => [{ step, ok: false, detail }],
  close: async () => undefined,
});
