import type { Report } from '@carillon/domain/receipts';
import type { CarillonError, Duration, Instant, Result } from '@carillon/kernel';

/** A request of a provider as it came. Nothing in it is proved. */
export type Callback = {
  /** Names in lower case; of a header that came twice, nothing. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
};

/** Age from which a signed callback is refused (docs/internals/evidence.md). */
export const OLDEST_SIGNATURE: Duration = 24 * 3_600_000;
/** The provider's clock may be ahead of ours by this much. */
const AHEAD: Duration = 5 * 60_000;

/** Whether a signature of this time may still count. */
export const isRecent = (signedAt: Instant | null, now: Instant): boolean =>
  signedAt !== null && signedAt <= now + AHEAD && now - signedAt <= OLDEST_SIGNATURE;

export type Reading = Result<readonly Report[], CarillonError>;
