import type { AccountOf } from '@carillon/domain/configuration';
import { callsAtOnce, providerResult } from '@carillon/domain/deliveries';
import { createProviderSender, unusableSender } from '@carillon/one-request';
import type { AddressGuard, ChannelSender, Clock, SenderFactory } from '@carillon/ports';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { refusedByAccount } from '../../sms-limits.ts';
import { createVonageApi, type VonageApi, type VonageApiOptions } from './api.ts';

export type VonageSenderDeps = {
  readonly clock: Clock;
  /** Allows addresses for accounts of workspaces. Those of the deployment may be anywhere. */
  readonly guard: AddressGuard;
  /** PEM of authorities that count besides those of the machine. */
  readonly trusted?: readonly string[];
  /** Shorter limits for tests. */
  readonly limits?: VonageApiOptions['limits'];
};

/** Characters of a text that the Messages API takes. */
const MAX_CHARACTERS = 1000;

const senderOf = (account: AccountOf<'vonage'>, api: VonageApi, clock: Clock): ChannelSender =>
  createProviderSender({
    channel: 'sms',
    carries: 'A Vonage account carries SMS only.',
    async attempt({ to, text }, { notAfter, reportTo, signal }) {
      const refused = refusedByAccount(account, to, text);
      if (refused) return refused;
      if (text.length > MAX_CHARACTERS) {
        const words = `The text has ${text.length} characters; Vonage takes at most ${MAX_CHARACTERS}.`;
        return providerResult('refused_content', '', words);
      }
      // Without the secret that proves a callback, the gateway would refuse each one.
      const statusUrl = account.signature_secret === undefined ? null : reportTo;
      return api.send({ to, from: account.from, text, statusUrl, validity: notAfter - clock.now() }, signal);
    },
    async check() {
      const { ok, detail } = await api.check(new AbortController().signal);
      return [{ step: 'sign in', ok, detail }];
    },
    close: () => api.close(),
  });

/** Returns the key of a PEM text, or null if it is not an RSA key. */
function readPrivateKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

/** Makes senders for Vonage accounts. `secrets` holds the private key under the name that the account refers to. */
export const createVonageSenderFactory = (deps: VonageSenderDeps): SenderFactory => ({
  kind: 'vonage',
  create(account, secrets, workspace) {
    if (account.kind !== 'vonage') throw new TypeError(`a Vonage sender got an account of kind ${account.kind}`);
    const { secret } = account.private_key;
    const pem = secrets[secret] ?? '';
    if (pem === '') return unusableSender('secret', `The secret ${secret} has no value.`);
    const privateKey = readPrivateKey(pem);
    if (privateKey === null) return unusableSender('secret', `The secret ${secret} is not an RSA private key (PEM).`);
    const api = createVonageApi(
      { applicationId: account.application_id, privateKey },
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
