import type { Instant } from '@carillon/kernel';
import type { SuppressionSource } from './suppression-source.ts';

/**
 * Result of one attempt. Adapters map all vendor codes to these verdicts (docs/internals/provider-outcomes.md).
 * `transient`: definitely not accepted. `ambiguous`: unknown.
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
  /** Vendor code, such as `550 5.1.1`, at most 64 characters. Empty if no reply was read. */
  readonly code: string;
  /** Description without address, body or secret. */
  readonly detail: string;
  /** The vendor's id of the message, if accepted and given. */
  readonly providerId: string | null;
  /** With `throttled`: earliest retry. */
  readonly retryAt: Instant | null;
  /** Source of a new suppression of the address, or null. Documents of earlier versions hold a boolean. */
  readonly suppress: SuppressionSource | null;
  /** True if an operator should check the account, because the cause is its configuration and not this message. */
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
