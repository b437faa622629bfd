import type { PolledIntegration } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';

/** Asks for one page of who is in a cohort. */
export type CohortPageCall = {
  readonly integration: PolledIntegration;
  readonly key: string;
  readonly cohort: string;
  /** The `next` of the page before; null: the first page. */
  readonly cursor: string | null;
  readonly signal: AbortSignal;
};

/** What it came to; `detail` holds neither key nor user. */
export type CohortPageAnswer =
  | {
      readonly kind: 'page';
      readonly userIds: readonly string[];
      /** Persons without a usable user id. */
      readonly skipped: number;
      /** Null: this was the last page. */
      readonly next: string | null;
    }
  /** The platform refuses for good: key, project or cohort are not right. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** It may go better later, after `retryAfter` where the platform said so. */
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfter: Duration | null };

/** Platforms that have to be asked who is in a cohort. Never throws for what others do. */
export type CohortPages = { page(call: CohortPageCall): Promise<CohortPageAnswer> };
