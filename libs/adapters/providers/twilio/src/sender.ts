import type { AccountOf } from '@carillon/domain/configuration';
import { callsAtOnce } from '@carillon/domain/deliveries';
import { createProviderSender, unusableSender } from '@carillon/one-request';
import type { AddressGuard, ChannelSender, Clock, SenderFactory } from '@carillon/ports';
import { refusedByAccount } from '../../sms-limits.ts';
import { createTwilioApi, MAX_LISTED, type TwilioApi, type TwilioApiOptions } from './api.ts';

export type TwilioSenderDeps = {
  readonly clock: Clock;
  /** Says where accounts of workspaces may be reached; the deployment's own may be anywhere. */
  readonly guard: AddressGuard;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted?: readonly string[];
  /** Shorter ones make tests quick. */
  readonly limits?: TwilioApiOptions['limits'];
};

const SMS_ALONE = 'A Twilio account carries SMS alone.';

/** Sends over one account of Twilio. One call is one request, never repeated. */
const senderOf = (account: AccountOf<'twilio'>, api: TwilioApi, clock: Clock): ChannelSender =>
  createProviderSender({
    channel: 'sms',
    carries: SMS_ALONE,
    async attempt({ to, text }, context) {
      const refused = refusedByAccount(account, to, text);
      if (refused) return refused;
      const request = {
        to,
        body: text,
        sender:
          account.messaging_service === undefined
            ? { from: account.from ?? '' }
            : { messagingService: account.messaging_service },
        statusCallback: context.reportTo,
        validity: Math.max(0, context.notAfter - clock.now()),
      };
      return api.send(request, context.signal);
    },
    async find({ to, text }, since, signal) {
      const { from, messaging_service: service } = account;
      const listed = await api.list(to, since, signal);
      // A full page may hide another one, and of one alone nothing would be proved.
      if (listed === null || listed.length >= MAX_LISTED) return null;
      return listed
        .filter((each) => each.body === text)
        .filter((each) => (service === undefined ? each.from === from : each.messagingService === service))
        .map(({ sid, createdAt }) => ({ source: 'twilio', providerId: sid, createdAt }));
    },
    async check() {
      const { ok, detail } = await api.check(new AbortController().signal);
      return [{ step: 'sign in', ok, detail }];
    },
    close: () => api.close(),
  });

/** Makes senders for accounts of Twilio. `secrets` holds what signs in, under the name that the account refers to. */
export const createTwilioSenderFactory = (deps: TwilioSenderDeps): SenderFactory => ({
  kind: 'twilio',
  canBeAsked: true,
  create(account, secrets, workspace) {
    if (account.kind !== 'twilio') throw new TypeError(`an account of kind ${account.kind} is not a Twilio account`);
    const { account_sid: accountSid, api_key: key, auth_token: token } = account;
    const { secret } = key?.secret ?? token;
    const password = secrets[secret] ?? '';
    if (password === '') return unusableSender('secret', `The secret ${secret} has no value.`);
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
    return senderOf(account, api, deps.clock);
  },
});
