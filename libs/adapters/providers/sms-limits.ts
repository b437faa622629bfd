import { smsSegments } from '@carillon/domain/channels';
import type { AccountBody } from '@carillon/domain/configuration';
import { maxSegments, providerResult, reaches, type ProviderResult } from '@carillon/domain/deliveries';

type SmsAccount = Extract<AccountBody, { readonly allow?: unknown }>;

/** Returns the refusal of a message that the account must not send, by its `allow` and `max_segments`, or null. */
export function refusedByAccount(account: SmsAccount, to: string, text: string): ProviderResult | null {
  if (!reaches(account, to)) {
    const words = `The account sends to numbers that begin with ${account.allow?.join(' or ')} alone.`;
    return providerResult('refused_content', '', words);
  }
  const { segments } = smsSegments(text);
  const most = maxSegments(account);
  if (segments <= most) return null;
  const words = `The text takes ${segments} segments; the account sends at most ${most} (max_segments).`;
  return providerResult('refused_content', '', words);
}
