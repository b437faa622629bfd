import type { Of } from '../body-of.ts';
import { fcm } from './fcm.ts';
import type { Provider } from './provider.ts';
import { sandbox } from './sandbox.ts';
import { smtp } from './smtp.ts';
import { twilio } from './twilio.ts';
import { vonage } from './vonage.ts';

export { DEFAULT_MAX_SEGMENTS } from './account-keys.ts';
export type { Reporter } from './provider.ts';

/** Every kind of provider account, in the order in which people read them. */
export const PROVIDERS = [smtp, twilio, vonage, fcm, sandbox] as const;

type Account = Of<(typeof PROVIDERS)[number]['shape']>;
export type ProviderKind = Account['kind'];

const BY_KIND = new Map<string, Provider<Account>>(PROVIDERS.map((provider) => [provider.kind, provider]));

/** Returns the provider of an account. */
export function providerOf({ kind }: Pick<Account, 'kind'>): Provider<Account> {
  const provider = BY_KIND.get(kind);
  if (provider === undefined) throw new TypeError(`no provider is called ${kind}`);
  return provider;
}
