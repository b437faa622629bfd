import type { Instant } from '@carillon/kernel';
import type { SuppressionSource } from './suppression-source.ts';

/**
 * What an adapter answers for one attempt: every vendor's codes come down to one of these (docs/internals/provider-outcomes.md).
 * `transient` means definitely not accepted; `ambiguous` that nobody can say.
 */
export type ProviderVerdict =
  | 'accepted'
  | 'refused_recipient'
  | 'refused_content'
  | 'refused_account'
  | 'throttled'
  | 'transient'
  | 'ambiguous';

export type ProviderResult = {
  readonly verdict: ProviderVerdict;
  /** The vendor's code, such as `550 5.1.1`, at most 64 characters; empty where no reply was read. */
  readonly code: string;
  /** What happened, in words, without address, body or secret. */
  readonly detail: string;
  /** The vendor's id of the message, if accepted and given. */
  readonly providerId: string | null;
  /** With `throttled`: not before this. */
  readonly retryAt: Instant | null;
  /** Why the address gets nothing more on this channel; null: it stays as it is. Documents of earlier versions have a boolean. */
  readonly suppress: SuppressionSource | null;
  /** The operator should look at it: a configuration problem, not this message's. */
  readonly alert: boolean;
};

const MAX_CODE = 64;

export const providerResult = (
  verdict: ProviderVerdict,
  code: string,
  detail: string,
  more: Partial<Pick<ProviderResult, 'providerId' | 'retryAt' | 'suppress' | 'alert'>> = {},
): ProviderResult => ({
  verdict,
  code: code.slice(0, MAX_CODE).toWellFormed(),
  detail,
  providerId: null,
  retryAt: null,
  suppress: null,
  alert: false,
  ...more,
});
