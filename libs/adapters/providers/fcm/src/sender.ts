import { createProviderSender, unusableSender } from '@carillon/one-request';
import type { AddressGuard, Clock, SenderFactory } from '@carillon/ports';
import { createFcmApi, type FcmApiOptions } from './api.ts';
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

const PUSH_ALONE = 'An account of Firebase carries push messages alone.';

/** Makes senders for accounts of Firebase. One call is one POST, never repeated. `secrets` holds the key file under the name that the account refers to. */
export const createFcmSenderFactory = (deps: FcmSenderDeps): SenderFactory => ({
  kind: 'fcm',
  create(account, secrets, workspace) {
    if (account.kind !== 'fcm') throw new TypeError(`an account of kind ${account.kind} is not a Firebase account`);
    const { secret } = account.credentials;
    const file = secrets[secret];
    if (file === undefined) return unusableSender('credentials', `The secret ${secret} has no value.`);
    const read = readServiceAccount(file);
    if (!read.ok) return unusableSender('credentials', read.error);
    const api = createFcmApi(read.value, {
      guard: workspace === '' ? null : deps.guard,
      tokenGuard: deps.guard,
      trusted: deps.trusted ?? [],
      now: () => deps.clock.now(),
      ...(account.url !== undefined && { url: account.url }),
      ...(deps.timeouts && { timeouts: deps.timeouts }),
    });
    return createProviderSender({
      channel: 'push',
      carries: PUSH_ALONE,
      attempt(message, { notAfter, signal }) {
        const now = deps.clock.now();
        const { to: token, ...content } = message;
        return api.send({ token, content, timeToLive: notAfter - now, now }, signal);
      },
      async check() {
        const { ok, detail } = await api.check(new AbortController().signal);
        return [{ step: 'validate only', ok, detail }];
      },
      close: () => api.close(),
    });
  },
});
