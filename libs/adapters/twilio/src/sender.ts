import {
  callsAtOnce,
  maxSegments,
  providerResult,
  reaches,
  smsSegments,
  type FoundMessage,
  type ProviderResult,
  type TwilioAccount,
} from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { AddressGuard, ChannelSender, Clock, RenderedMessage, SendContext, SenderFactory } from '@carillon/ports';
import { createTwilioApi, MOST_LISTED, type TwilioApi, type TwilioApiOptions } from './api.ts';

export type TwilioSenderDeps = {
  readonly clock: Clock;
  /** Says where accounts of workspaces may be reached; the deployment's own may be anywhere. */
  readonly guard: AddressGuard;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted?: readonly string[];
  /** Shorter ones make tests quick. */
  readonly limits?: TwilioApiOptions['limits'];
};

const STOPPED = 'The delivery was stopped before the message was handed over.';
const SMS_ALONE = 'A Twilio account carries SMS alone.';

/** Sends over one account of Twilio. One call is one request, never repeated. */
class TwilioSender implements ChannelSender {
  readonly #account: TwilioAccount;
  readonly #api: TwilioApi;
  readonly #clock: Clock;
  readonly #calls = new Set<Promise<unknown>>();
  #closed = false;

  constructor(account: TwilioAccount, api: TwilioApi, clock: Clock) {
    this.#account = account;
    this.#api = api;
    this.#clock = clock;
  }

  send(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    const call = this.#attempt(message, context).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
    return call;
  }

  async #attempt(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    if (message.channel !== 'sms') return providerResult('refused_account', '', SMS_ALONE, { alert: true });
    if (this.#closed || context.signal.aborted) return providerResult('transient', 'stopped', STOPPED);
    const account = this.#account;
    if (!reaches(account, message.to)) {
      const words = `The account sends to numbers that begin with ${account.allow?.join(' or ')} alone.`;
      return providerResult('refused_content', '', words);
    }
    const { segments } = smsSegments(message.text);
    const most = maxSegments(account);
    if (segments > most) {
      const words = `The text takes ${segments} segments; the account sends at most ${most} (max_segments).`;
      return providerResult('refused_content', '', words);
    }
    const request = {
      to: message.to,
      body: message.text,
      sender:
        account.messaging_service === undefined
          ? { from: account.from ?? '' }
          : { messagingService: account.messaging_service },
      statusCallback: context.reportTo,
      validity: Math.max(0, context.notAfter - this.#clock.now()),
    };
    return this.#api.send(request, context.signal);
  }

  async find(message: RenderedMessage, since: Instant, signal: AbortSignal): Promise<readonly FoundMessage[] | null> {
    if (message.channel !== 'sms' || this.#closed) return null;
    const { from, messaging_service: service } = this.#account;
    const listed = await this.#api.list(message.to, since, signal);
    // A full page may hide another one, and of one alone nothing would be proved.
    if (listed === null || listed.length >= MOST_LISTED) return null;
    return listed
      .filter((each) => each.body === message.text)
      .filter((each) => (service === undefined ? each.from === from : each.messagingService === service))
      .map(({ sid, createdAt }) => ({ source: 'twilio', providerId: sid, createdAt }));
  }

  async check(): ReturnType<ChannelSender['check']> {
    const { ok, detail } = await this.#api.check(new AbortController().signal);
    return [{ step: 'sign in', ok, detail }];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#calls);
    this.#api.close();
  }
}

/** Stands in for an account whose secret has no value: what is to go over it waits, and says why. */
const unusableSender = (secret: string): ChannelSender => {
  const detail = `The secret ${secret} has no value.`;
  return {
    send: async () => providerResult('refused_account', '', detail, { alert: true }),
    check: async () => [{ step: 'secret', ok: false, detail }],
    close: async () => undefined,
  };
};

/** Makes senders for accounts of Twilio. `secrets` holds what signs in, under the name that the account refers to. */
export const createTwilioSenderFactory = (deps: TwilioSenderDeps): SenderFactory => ({
  kind: 'twilio',
  canBeAsked: true,
  create(account, secrets, workspace) {
    if (account.kind !== 'twilio') throw new TypeError(`an account of kind ${account.kind} is none of Twilio`);
    const { account_sid: accountSid, api_key: key, auth_token: token } = account;
    const { secret } = key?.secret ?? token;
    const password = secrets[secret] ?? '';
    if (password === '') return unusableSender(secret);
    const api = createTwilioApi(
      { accountSid, user: key?.sid ?? accountSid, password },
      {
        connections: callsAtOnce(account),
        guard: workspace === '' ? null : deps.guard,
        trusted: deps.trusted ?? [],
        now: () => deps.clock.now(),
        ...(account.url !== undefined && { url: account.url.replace(/\/+$/, '') }),
        ...(deps.limits && { limits: deps.limits }),
      },
    );
    return new TwilioSender(account, api, deps.clock);
  },
});
